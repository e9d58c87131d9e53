import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { flappingFields, isVolatile } from '../../diff/flapping.ts';
import type { ChangedFields } from '../../diff/flapping.ts';
import { readUpdates, updatedRecords } from '../../mirror/records/change-store.ts';
import { fieldsWithDrift, saveDrift } from '../../mirror/kinds/drift-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { Sweep } from '../state/sweep.ts';
import type { Tally } from '../land/tally.ts';

/** Sample size: a flapping field flaps in many records, so this many changed ones are enough. */
const RECORDS_LOOKED_AT = 50;
const UPDATES_LOOKED_AT = 4;
/** A field that changes in nearly every record counts after the same records have changed in it this many times. */
const VOLATILE_UPDATES = 3;

/** Reports noisy fields once: those that alternate between two values, and those that are new at every reading. */
export async function noteFlapping(
  tx: Transaction,
  { kind, runId, fields }: Sweep,
  { tally, now }: { readonly tally: Tally; readonly now: Date },
): Promise<void> {
  const { updated, rows } = tally.counts();
  if (updated === 0) return;
  const found = new Map<string, string>();
  for (const id of await updatedRecords(tx, { kind: kind.name, runId, limit: RECORDS_LOOKED_AT })) {
    const updates = await readUpdates(tx, { kind: kind.name, id, limit: UPDATES_LOOKED_AT });
    const history = updates.map((changes) => trackedOf(changes, fields));
    for (const field of flappingFields(history)) found.set(field, `goes to and fro, e.g. in record ${id}`);
    if (!isVolatile(updated, rows)) continue;
    for (const field of inEveryUpdate(history))
      found.set(field, `is another one at every reading, e.g. in record ${id}`);
    await yieldToEventLoop();
  }
  if (found.size === 0) return;
  const noted = await fieldsWithDrift(tx, { kind: kind.name, code: 'flapping_field' });
  const drifts = [...found]
    .filter(([field]) => !noted.has(field))
    .map(([field, what]) => {
      const detail = `${what}; diff.ignoreFields keeps it out of the change events`;
      return { kind: kind.name, code: 'flapping_field', field, detail } as const;
    });
  await saveDrift(tx, drifts, now);
}

/** Only tracked fields are reported. */
function trackedOf(changes: ChangedFields, fields: Sweep['fields']): ChangedFields {
  return Object.fromEntries(Object.entries(changes).filter(([name]) => fields.has(name)));
}

function inEveryUpdate(history: readonly ChangedFields[]): string[] {
  const latest = history.slice(-VOLATILE_UPDATES);
  const [first] = latest;
  if (first === undefined || latest.length < VOLATILE_UPDATES) return [];
  return Object.keys(first).filter((field) => latest.every((changes) => Object.hasOwn(changes, field)));
}
