import { boundFields, MOST_FIELDS } from '../../diff/bound-fields.ts';
import { valueDrift } from '../../diff/field-drift.ts';
import { observeFields } from '../../diff/observe-fields.ts';
import type { JsonObject } from '../../lib/json.ts';
import { shortened, storable } from '../../lib/text.ts';
import { hasDrift, saveDrift } from '../../mirror/kinds/drift-store.ts';
import { saveFields } from '../../mirror/kinds/field-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { Sweep } from '../state/sweep.ts';

/** Notes fields that appear for the first time, or with another type. The first reading is the baseline. */
export async function landFields(
  tx: Transaction,
  { kind, lease, fields }: Sweep,
  { records, now }: { readonly records: readonly JsonObject[]; readonly now: Date },
): Promise<void> {
  const { records: bounded, untracked } = boundFields(kind, fields, records);
  if (untracked.size > 0) await noteUntracked(tx, kind.name, { untracked, now });
  const seen = observeFields(kind, fields, bounded);
  await saveFields(tx, kind, { fields: seen, now });
  const drifts = lease.completeSweeps === 0 ? [] : valueDrift(fields, seen);
  await saveDrift(
    tx,
    drifts.map((drift) => ({ kind: kind.name, ...drift })),
    now,
  );
  for (const [field, shown] of seen) fields.set(field, shown);
}

const [EXAMPLES, LONGEST_EXAMPLE] = [3, 40];

/** Notes once that a kind has more field names than are tracked. */
async function noteUntracked(
  tx: Transaction,
  kind: string,
  { untracked, now }: { readonly untracked: ReadonlySet<string>; readonly now: Date },
): Promise<void> {
  const drift = { kind, code: 'untracked_fields', field: null } as const;
  if (await hasDrift(tx, drift)) return;
  const examples = [...untracked]
    .slice(0, EXAMPLES)
    .map((name) => storable(shortened(name, LONGEST_EXAMPLE)));
  const detail = `${untracked.size} further names were sent at once, such as ${examples.join(', ')}; ${MOST_FIELDS} are tracked, the values of others stay in _raw`;
  await saveDrift(tx, [{ ...drift, detail }], now);
}
