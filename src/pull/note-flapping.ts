import { flappingFields, isVolatile } from '../diff/flapping.ts';
import type { ChangedFields } from '../diff/flapping.ts';
import { readUpdates, updatedRecords } from '../mirror/change-store.ts';
import { hasDrift, saveDrift } from '../mirror/drift-store.ts';
import type { Transaction } from '../mirror/session.ts';
import type { Sweep } from './sweep.ts';
import type { Tally } from './tally.ts';

/** A field that flaps does so in many records: so many of those that changed are looked at. */
const RECORDS_LOOKED_AT = 50;
const UPDATES_LOOKED_AT = 4;
/** A field that is new in nearly every record counts once the same records have shown it so often. */
const VOLATILE_UPDATES = 3;

/** Reports fields whose changes tell nothing, once: those that go to and fro, and those that are new at every reading. */
export async function noteFlapping(
  tx: Transaction,
  { kind, runId }: Sweep,
  { tally, now }: { readonly tally: Tally; readonly now: Date },
): Promise<void> {
  const { updated, rows } = tally.counts();
  if (updated === 0) return;
  const found = new Map<string, string>();
  for (const id of await updatedRecords(tx, { kind: kind.name, runId, limit: RECORDS_LOOKED_AT })) {
    const history = await readUpdates(tx, { kind: kind.name, id, limit: UPDATES_LOOKED_AT });
    for (const field of flappingFields(history)) found.set(field, `goes to and fro, e.g. in record ${id}`);
    if (!isVolatile(updated, rows)) continue;
    for (const field of inEveryUpdate(history))
      found.set(field, `is another one at every reading, e.g. in record ${id}`);
  }
  for (const [field, what] of found) {
    const drift = { kind: kind.name, code: 'flapping_field', field } as const;
    const detail = `${what}; diff.ignoreFields keeps it out of the change events`;
    if (!(await hasDrift(tx, drift))) await saveDrift(tx, [{ ...drift, detail }], now);
  }
}

function inEveryUpdate(history: readonly ChangedFields[]): string[] {
  const latest = history.slice(-VOLATILE_UPDATES);
  const [first] = latest;
  if (first === undefined || latest.length < VOLATILE_UPDATES) return [];
  return Object.keys(first).filter((field) => latest.every((changes) => Object.hasOwn(changes, field)));
}
