import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { readRows } from '../../db/rows/rows.ts';
import { addNotification } from '../notifications/notifications.ts';
import { saveDrift } from '../kinds/drift-store.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';

/** Fields of a kind with the number of consecutive sweeps that changed them in most rows, and the fields whose changes cause no events. */
interface KindFields {
  readonly sweeps: Readonly<Record<string, number>>;
  readonly ignored: readonly string[];
}

/** Fewer rows may all be changed by one person. */
const LEAST_ROWS = 20;
const SWEEPS = 2;

/** Notes which fields a complete sweep found changed in most rows; the second time running a person is notified. */
export async function saveVolatileFields(
  tx: Transaction,
  kind: string,
  swept: {
    readonly changed: ReadonlyMap<string, number>;
    readonly rows: number;
    readonly ignored: ReadonlySet<string>;
  },
  now: Date,
): Promise<void> {
  const { changed, rows, ignored } = swept;
  const key = `volatile.${kind}` as const;
  const before = await readMeta(tx, key);
  const changedMostly = rows < LEAST_ROWS ? [] : [...changed].filter(([, count]) => 2 * count > rows);
  if (before === null && changedMostly.length === 0) return;
  const sweeps: KindFields['sweeps'] = before === null ? {} : (JSON.parse(before) as KindFields).sweeps;
  const after: KindFields = {
    sweeps: Object.fromEntries(changedMostly.map(([name]) => [name, (sweeps[name] ?? 0) + 1])),
    ignored: [...ignored],
  };
  await writeMeta(tx, key, JSON.stringify(after));
  const fields = Object.keys(after.sweeps).filter((name) => after.sweeps[name] === SWEEPS);
  if (fields.length === 0) return;
  const setting = settingFor([[kind, after]]);
  const detail = `changed in most rows of two sweeps running; to make no events of it: ${setting}`;
  const drifts = fields.map((field) => ({ kind, code: 'volatile_field' as const, field, detail }));
  await saveDrift(tx, drifts, now);
  const facts = { fields: fields.map((name) => `${kind}.${name}`).join(', '), setting };
  await addNotification(tx, { type: 'field.volatile', kind, facts, now });
}

/** The fields that change with every sweep, as `clients.last_seen`, and the line of the settings that silences them; null = none. */
export async function readVolatile(db: Queryable) {
  const stored = sql`select substr(key, 10) as kind, value from mirror_meta where key like 'volatile.%' order by key`;
  const kinds = (await readRows(db, { kind: String, value: String }, stored))
    .map((row) => [row.kind, JSON.parse(row.value) as KindFields] as const)
    .filter(([, fields]) => volatileIn(fields).length > 0);
  if (kinds.length === 0) return null;
  const fields = kinds.flatMap(([kind, kindFields]) =>
    volatileIn(kindFields).map((name) => `${kind}.${name}`),
  );
  return { fields, setting: settingFor(kinds) };
}

const volatileIn = (fields: KindFields): readonly string[] =>
  Object.keys(fields.sweeps).filter((name) => (fields.sweeps[name] ?? 0) >= SWEEPS);

/** A line of YAML with what is ignored already, so that it can take the place of the present one. */
function settingFor(kinds: readonly (readonly [string, KindFields])[]): string {
  const lists = kinds.map(
    ([kind, kindFields]) =>
      `${kind}: ${JSON.stringify([...new Set([...kindFields.ignored, ...volatileIn(kindFields)])])}`,
  );
  return `diff: { ignoreFields: { ${lists.join(', ')} } }`;
}
