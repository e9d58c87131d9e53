import type { ChangeRow } from '../dump.ts';
import { bornMs, isSameContent, wasListedThroughout } from '../ledger.ts';
import type { History, Ledger } from '../ledger.ts';
import { differing } from '../records.ts';
import type { RecordedPull } from '../recording.ts';
import { violation } from './rows.ts';
import type { Violation } from './violation.ts';

/** One kind's part of a recording. */
export interface KindRecording {
  readonly ledger: Ledger;
  readonly pulls: readonly RecordedPull[];
  /** The kind's events, in the order of their numbers. */
  readonly changes: readonly ChangeRow[];
  /** The list may leave records out that are there: what it shows for the first time need not be new. */
  readonly mayHide: boolean;
}

type Found = readonly Violation[];

/** Records said to be deleted that the service had, all through the pull that said so. */
export function falseDeletions({ ledger, pulls, changes }: KindRecording): Found {
  return changes
    .filter(({ change }) => change === 'deleted')
    .filter(({ id, runId }) => {
      const [history, pull] = [ledger.histories.get(id), pulls.find((one) => one.runId === runId)];
      return history === undefined || pull === undefined || wasListedThroughout(history, pull);
    })
    .map((event) =>
      violation('false deletion', ledger, `${shown(event)}: the record was there all the time`),
    );
}

/** Events that tell of something that did not happen, or of nothing. */
export function phantomEvents(recording: KindRecording): Found {
  const { ledger, changes } = recording;
  return changes.flatMap((event) => {
    const history = ledger.histories.get(event.id);
    const why = history === undefined ? 'no such record' : phantom(event, history, recording);
    return why === null ? [] : [violation('phantom event', ledger, `${shown(event)}: ${why}`)];
  });
}

function phantom(event: ChangeRow, history: History, recording: KindRecording): string | null {
  const { change, before, after } = event;
  const stranger = [before, after].find(
    (text) => text !== null && history.states.every((state) => state.text !== text),
  );
  if (stranger !== undefined) return 'the record never was like that';
  if (change === 'updated') return phantomUpdate(event, history);
  if (change === 'created' && bornMs(history) < certainlyKnownMs(recording))
    return 'it was there at the baseline';
  const hasSides =
    change === 'deleted' ? before !== null && after === null : before === null && after !== null;
  return hasSides ? null : 'one side too many, or too few';
}

function phantomUpdate({ before, after, fields }: ChangeRow, history: History): string | null {
  if (before === null || after === null) return 'an update has two sides';
  if (isSameContent(history, before, after)) return 'nothing has changed';
  const [from, to] = [before, after].map((text) => history.states.find((state) => state.text === text));
  const expected = from && to ? differing(from.content, to.content).sort().join() : '';
  const named = Object.keys(JSON.parse(fields) as object)
    .sort()
    .join();
  return named === expected ? null : `names the fields ${named}, expected ${expected}`;
}

/**
 * Before this instant nothing that is created can be news: a baseline that was certified knew all there was at some point
 * of its last three sweeps. One that was not certified knows nothing for certain.
 */
function certainlyKnownMs({ ledger: { kind }, pulls, mayHide }: KindRecording): number {
  if (mayHide) return -Infinity;
  const first = pulls.findIndex(({ after }) => (after.kinds.get(kind)?.baselineAt ?? null) !== null);
  if (first === -1 || pulls[first]?.after.kinds.get(kind)?.certifiedAt === null) return -Infinity;
  return pulls[Math.max(0, first - 2)]?.fromMs ?? -Infinity;
}

/** Records whose events do not lead from one to the next, and at last to what the mirror holds. */
export function brokenChains({ ledger, pulls, changes }: KindRecording): Found {
  const rows = pulls.at(-1)?.after.kinds.get(ledger.kind)?.rows;
  const chains = byRecord(changes);
  const undated = [...(rows?.values() ?? [])].filter(
    ({ id, deletedAt }) => deletedAt !== null && !chains.has(id),
  );
  return [
    ...undated.map(({ id }) => violation('broken chain', ledger, `${id} is deleted without an event`)),
    ...[...chains].flatMap(([id, events]) => {
      const why = events.map((event, at) => brokenLink(event, events[at - 1])).find((one) => one !== null);
      if (why !== undefined) return [violation('broken chain', ledger, `${id}: ${why}`)];
      const [row, last] = [rows?.get(id), events.at(-1)];
      const isLast = row !== undefined && (last?.after === null ? row.deletedAt !== null : isAt(row, last));
      return isLast
        ? []
        : [violation('broken chain', ledger, `${id}: the last event is not what the mirror holds`)];
    }),
  ];
}

const isAt = (row: { readonly raw: string; readonly deletedAt: string | null }, last?: ChangeRow): boolean =>
  row.deletedAt === null && row.raw === last?.after;

function brokenLink(event: ChangeRow, previous: ChangeRow | undefined): string | null {
  const { change, before } = event;
  const wasDeleted = previous?.change === 'deleted';
  if (change === 'created' && previous !== undefined) return `${shown(event)} is not the first`;
  if ((change === 'restored') !== wasDeleted)
    return `${shown(event)} follows ${previous?.change ?? 'nothing'}`;
  const isJoined = previous === undefined || wasDeleted || previous.after === before;
  return isJoined ? null : `${shown(event)} does not begin where #${previous.seq} ended`;
}

/** Records whose events show an older content after a newer one. */
export function backwards({ ledger, changes }: KindRecording): Found {
  return [...byRecord(changes)].flatMap(([id, events]) => {
    const states = ledger.histories.get(id)?.states ?? [];
    let at = 0;
    for (const event of events) {
      const shownAt =
        event.after === null
          ? at
          : states.findIndex(({ text }, index) => index >= at && text === event.after);
      if (shownAt === -1)
        return [violation('backwards', ledger, `${shown(event)}: older than the one before`)];
      at = shownAt;
    }
    return [];
  });
}

function byRecord(changes: readonly ChangeRow[]): ReadonlyMap<string, readonly ChangeRow[]> {
  const groups = new Map<string, ChangeRow[]>();
  for (const event of changes) groups.set(event.id, [...(groups.get(event.id) ?? []), event]);
  return groups;
}

export function shown({ seq, kind, id, change, runId }: ChangeRow): string {
  return `#${seq} ${kind} ${id} ${change} (run ${runId ?? '–'})`;
}
