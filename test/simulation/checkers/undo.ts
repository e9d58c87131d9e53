import type { ChangeRow, KindDump } from '../dump.ts';
import type { Ledger } from '../ledger.ts';
import type { RecordedPull } from '../recording.ts';
import type { KindRecording } from './events.ts';
import { violation } from './rows.ts';
import type { Violation } from './violation.ts';

type Found = readonly Violation[];
type Contents = ReadonlyMap<string, string>;

/** Instants at which undoing what came later does not give what the mirror showed, from the baseline on. */
export function wrongUndo({ ledger, pulls, changes }: KindRecording): Found {
  const final = liveOf(pulls.at(-1), ledger);
  const since = pulls.filter(({ after }) => (after.kinds.get(ledger.kind)?.baselineAt ?? null) !== null);
  return since.flatMap((pull): Found => {
    const undone = undo(
      final,
      changes.filter(({ seq }) => seq > pull.after.lastSeq),
    );
    const wrong = differences(undone, liveOf(pull, ledger));
    return wrong.length === 0
      ? []
      : [violation('undo', ledger, `back to run ${pull.runId}: ${wrong.slice(0, 3).join('; ')}`)];
  });
}

export function undo(present: Contents, changes: readonly ChangeRow[]): Contents {
  const contents = new Map(present);
  for (const { change, id, before } of changes.toReversed()) {
    if (change === 'created' || change === 'restored') contents.delete(id);
    else if (before !== null) contents.set(id, before);
  }
  return contents;
}

function differences(got: Contents, expected: Contents): string[] {
  const ids = new Set([...got.keys(), ...expected.keys()]);
  return [...ids]
    .filter((id) => got.get(id) !== expected.get(id))
    .map((id) => `${id}: got ${got.get(id) ?? 'none'}, expected ${expected.get(id) ?? 'none'}`);
}

function liveOf(pull: RecordedPull | undefined, { kind }: Ledger): Contents {
  const rows: KindDump['rows'] = pull?.after.kinds.get(kind)?.rows ?? new Map<never, never>();
  return new Map(
    [...rows.values()].filter(({ deletedAt }) => deletedAt === null).map(({ id, raw }) => [id, raw]),
  );
}
