import { shownRow } from './answers.ts';
import type { ChangeRow, MirrorRow } from './dump.ts';
import { mayKeep } from './secrets.ts';
import { evidenceOf, recordsOf, type Finding, type Found } from './finding.ts';
import type { Recording } from './history.ts';
import type { Content, Records } from './records.ts';
import { rowsOfPage } from './listed.ts';
import { plainText } from './spelled.ts';
import type { Pull } from './stage.ts';

export const MOST_LAG_MS = 60_000;
export const MOST_KEPT_MS = 120_000;

/** Instants from which a list may have been shown in a pull. */
const spanOf = (
  { personality }: Recording,
  pull: Pull,
): { readonly fromMs: number; readonly toMs: number } => ({
  fromMs:
    pull.fromMs -
    (personality.replica === 'none' ? 0 : MOST_LAG_MS) -
    (personality.cache === 'none' ? 0 : MOST_KEPT_MS),
  toMs: pull.toMs,
});

/** Lists said to be known exactly that at no instant were like that, apart from rows that came later. */
export function falselyCertified(recording: Recording): Found {
  return recording.pulls.flatMap((pull) =>
    [...pull.states].flatMap(([kind, state]): Finding[] => {
      if (state !== 'certified') return [];
      const live = liveRows(pull.after.kinds.get(kind)?.rows).map(({ id }) => id);
      const instants = instantsOf(recording, pull, kind);
      if (instants.some((ms) => isListAt(recordsOf(recording, kind), live, ms))) return [];
      const truth = sortedText(
        recordsOf(recording, kind)
          .at(pull.toMs)
          .map(({ id }) => id),
      );
      return [
        {
          invariant: 'falsely certified',
          detail: `run ${pull.runId} ${kind}: mirror ${sortedText(live)}; service ${truth}`,
          evidence: evidenceOf(recording, kind, pull),
        },
      ];
    }),
  );
}

/** The instants at which a list may have been read in a pull: its first, and each at which somebody changed it. */
function instantsOf(recording: Recording, pull: Pull, kind: string): readonly number[] {
  const { fromMs, toMs } = spanOf(recording, pull);
  const changes = recordsOf(recording, kind).actions.map(({ atMs }) => atMs);
  return [fromMs, ...changes.filter((ms) => ms > fromMs && ms <= toMs)];
}

/** Whether these rows were the list at an instant, apart from the ones that came later. */
export function isListAt(
  records: Pick<Records, 'actions' | 'at'>,
  live: readonly string[],
  ms: number,
): boolean {
  const later = new Set(
    records.actions.filter(({ atMs, before }) => atMs > ms && before === null).map(({ id }) => id),
  );
  const then = records.at(ms).map(({ id }) => id);
  return sortedText(live.filter((id) => !later.has(id) || then.includes(id))) === sortedText(then);
}

const sortedText = (ids: readonly string[]): string => ids.toSorted().join();

const liveRows = (rows: ReadonlyMap<string, MirrorRow> | undefined): readonly MirrorRow[] =>
  [...(rows?.values() ?? [])].filter(({ deletedAt }) => deletedAt === null);

/** Records said to be deleted that the service had, all through the pull that said so. */
export function falselyDeleted(recording: Recording): Found {
  return recording.changes
    .filter(({ change }) => change === 'deleted')
    .flatMap((event) => {
      const pull = recording.pulls.find(({ runId }) => runId === event.runId);
      if (pull === undefined) return [];
      const records = recordsOf(recording, event.kind);
      const instants = instantsOf(recording, pull, event.kind);
      const wasThere = instants.every((ms) => records.find(event.id, ms) !== undefined);
      return wasThere ? [{ invariant: 'falsely deleted' as const, detail: shown(event) }] : [];
    });
}

/** Records whose events do not lead from one to the next, and at last to what the mirror holds. */
export function brokenChains({ changes, final, kinds, personality }: Recording): Found {
  return kinds.flatMap(({ name }) => {
    const plain = (text: string | null): string | null => text && plainText(text, name, personality);
    const rows = final.kinds.get(name)?.rows;
    const chains = Map.groupBy(
      changes.filter(({ kind }) => kind === name),
      ({ id }) => id,
    );
    return [...chains].flatMap(([id, events]): Finding[] => {
      const plainly = events.map((event) => ({
        ...event,
        before: plain(event.before),
        after: plain(event.after),
      }));
      const broken = plainly.find((event, at) => isBroken(event, plainly[at - 1]));
      const last = plainly.at(-1);
      const row = rows?.get(id);
      const isAtEnd =
        last?.after === null
          ? row?.deletedAt !== null
          : row?.deletedAt === null && fits(last?.after, plain(row.raw));
      if (broken === undefined && isAtEnd) return [];
      return [
        {
          invariant: 'broken chain',
          detail: broken ? shown(broken) : `${name} ${id}: its last event is not what the mirror holds`,
        },
      ];
    });
  });
}

function isBroken({ change, before }: ChangeRow, previous: ChangeRow | undefined): boolean {
  if (change === 'created' && previous !== undefined) return true;
  if (change === 'restored') return previous !== undefined && previous.change !== 'deleted';
  if (previous?.change === 'deleted') return true;
  return previous !== undefined && !fits(previous.after, before);
}

/** Instants at which undoing all events since does not give the records that the mirror showed. */
export function wrongUndo(recording: Recording): Found {
  const idsOf = (rows: readonly MirrorRow[]): string =>
    rows
      .map(({ id }) => id)
      .sort()
      .join();
  return recording.kinds.flatMap(({ name }) => {
    const final = new Map(liveRows(recording.final.kinds.get(name)?.rows).map((row) => [row.id, row.raw]));
    const events = recording.changes.filter(({ kind }) => kind === name);
    return recording.pulls
      .filter(({ after }) => (after.kinds.get(name)?.baselineAt ?? null) !== null)
      .flatMap(({ runId, after }): Finding[] => {
        const undone = [
          ...undo(
            final,
            events.filter(({ seq }) => seq > after.lastSeq),
          ).keys(),
        ]
          .sort()
          .join();
        const then = idsOf(liveRows(after.kinds.get(name)?.rows));
        return undone === then
          ? []
          : [
              {
                invariant: 'broken chain',
                detail: `back to run ${runId} of ${name}: ${undone}; was ${then}`,
              },
            ];
      });
  });
}

function undo(present: ReadonlyMap<string, string>, changes: readonly ChangeRow[]): Map<string, string> {
  const contents = new Map(present);
  for (const { change, id, before } of changes.toReversed()) {
    if (change === 'created' || change === 'restored') contents.delete(id);
    else if (before !== null) contents.set(id, before);
  }
  return contents;
}

/** Whether two contents agree where both show a field: what only one of them shows makes no event. */
export function fits(one: string | null | undefined, other: string | null): boolean {
  if (one === other) return true;
  if (typeof one !== 'string' || other === null) return false;
  const second = JSON.parse(other) as Content;
  return Object.entries(JSON.parse(one) as Content).every(
    ([name, value]) => !(name in second) || JSON.stringify(second[name]) === JSON.stringify(value),
  );
}

/**
 * The mirror against the service, once everything has come to rest. A list that is not certified promises nothing; but where its
 * rows differ from the mirror's, and no stranger has written to the tables, a row was lost or kept by us.
 */
export function unequal(recording: Recording): Found {
  return recording.kinds.flatMap(({ name }): Finding[] => {
    const last = recording.pulls.at(-1)?.states.get(name);
    if (last === 'rows_differ') return [{ invariant: 'unequal', detail: `${name}: ${last}` }];
    if (last !== 'certified') return [];
    const plain = (text: string): string => plainText(text, name, recording.personality);
    const rows = recordsOf(recording, name).at(recording.endMs);
    const live = liveRows(recording.final.kinds.get(name)?.rows);
    const missing = rows.filter(
      (row) =>
        !live.some(
          ({ id, raw }) =>
            row.id === id && plain(raw) === plain(mayKeep(row, recording.secrets.fields[name])),
        ),
    );
    const surplus = live.filter(({ id }) => !rows.some((row) => row.id === id));
    if (missing.length === 0 && surplus.length === 0) return [];
    return [
      {
        invariant: 'unequal',
        detail: `${name}: missing or otherwise ${missing.map(({ id }) => id).join()}; surplus ${surplus.map(({ id }) => id).join()}`,
      },
    ];
  });
}

/** Rows that are still missing, though pages of half the size would have shown them: where many rows are alike, no page of one size need. */
export function unread({ kinds, service, personality, final, endMs }: Recording): Found {
  const size = Math.floor(Number.parseInt(personality.pageSize, 10) / 2);
  if (personality.ties === 'none') return [];
  return kinds.flatMap(({ name }): Finding[] => {
    const rows = service.records.get(name)?.at(endMs) ?? [];
    const pages = Array.from({ length: Math.ceil(rows.length / size) }, (_none, at) => at + 1);
    const shown = pages.flatMap((page) => rowsOfPage(rows, { page, size }, personality));
    const live = new Set(liveRows(final.kinds.get(name)?.rows).map(({ id }) => id));
    const missing = new Set(shown.flatMap(({ id }) => (live.has(id) ? [] : id)));
    return missing.size === 0
      ? []
      : [{ invariant: 'unread', detail: `${name}: ${sortedText([...missing])} are never read` }];
  });
}

/** Rows, or contents of rows, that no record ever had. Of one that no list has shown nobody knows more than our answer showed. */
export function invented(recording: Recording): Found {
  return recording.kinds.flatMap((kind) => {
    const { name } = kind;
    const plain = (text: string): string => plainText(text, name, recording.personality);
    const texts = new Set(
      recordsOf(recording, name).actions.flatMap(({ after }) =>
        after ? plain(mayKeep(after, recording.secrets.fields[name])) : [],
      ),
    );
    const answers = new Set(
      recordsOf(recording, name).actions.flatMap(({ after, actor }) =>
        after && typeof actor === 'object'
          ? plain(mayKeep(shownRow(after, kind, recording.personality), recording.secrets.fields[name]))
          : [],
      ),
    );
    return [...(recording.final.kinds.get(name)?.rows.values() ?? [])]
      .filter(({ raw, isListed }) => !texts.has(plain(raw)) && (isListed || !answers.has(plain(raw))))
      .map(({ id, raw }) => ({
        invariant: 'invented' as const,
        detail: `${name} ${id}: ${raw.slice(0, 300)}`,
      }));
  });
}

export const shown = ({ seq, kind, id, change, runId }: ChangeRow): string =>
  `#${seq} ${kind} ${id} ${change} (run ${runId ?? '–'})`;

/** Records that differ by the word of `verify`, though everything has come to rest. */
export function differing({ verified, pulls, personality }: Recording): Found {
  if (personality.volatile !== 'none' || personality.spelling !== 'alike') return []; // It reads what nobody can read twice.
  return verified
    .filter(
      ({ kind, reason, differs }) =>
        reason === null && differs > 0 && pulls.at(-1)?.states.get(kind) === 'certified',
    )
    .map(({ kind, detail, differences }) => ({
      invariant: 'unequal',
      detail: `verify ${kind}: ${detail ?? ''} ${JSON.stringify(differences)}`,
    }));
}

/** Excluded values that are somewhere. */
export function leaked({ leaks }: Recording): Found {
  return leaks.map((detail) => ({ invariant: 'leaked', detail }));
}
