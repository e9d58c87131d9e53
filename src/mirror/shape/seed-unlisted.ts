import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { createIdNumbers } from '../../lib/id-numbers.ts';
import { writeMeta } from '../kinds/meta.ts';
import type { Transaction } from '../session/session.ts';
import { saveUnlisted } from '../sightings/unlisted-store.ts';

/**
 * Fills `unlisted_rows` in an earlier release's mirror with the rows that no kept sighting shows. That release kept no such
 * table, so all these rows are assumed to be ours.
 *
 * If no sighting has been removed yet, these are only rows that no list has ever shown.
 */
export async function seedUnlisted(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) await seedKind(tx, kind);
  const [first] = await tx.query(sql`select seq, observed_at from changes order by seq limit 1`);
  if (first !== undefined && Number(first['seq']) > 1)
    await writeMeta(tx, 'changes.forgotten_before', String(first['observed_at']));
}

const ROWS_A_QUERY = 5_000;

async function seedKind(tx: Transaction, { name }: Kind): Promise<void> {
  const [state] = await tx.query(sql`select tick, known_from from kind_state where kind = ${name}`);
  if (state === undefined) return;
  const [oldest] = await tx.query(sql`select min(sent) as sent from sightings where kind = ${name}`);
  const isWhole = Number(oldest?.['sent'] ?? 0) <= Number(state['known_from'] ?? 0) + 1;
  const shown = createIdNumbers();
  for (const { ids } of await tx.query(sql`select ids from sightings where kind = ${name}`))
    shown.number(String(ids), () => undefined);
  // We never wrote a tick beyond the counter.
  const mayBeOurs = sql`_deleted_at is null and _response between 1 and ${Number(state['tick'])}
    ${isWhole ? sql`and _listed is null` : sql``}`;
  for (let after: string | null = '0'; after !== null;) {
    const from: string = after;
    const rows = await tx.query(sql`
      select cast(k.id as text) as id from ${sql.identifier(name)} as k
      where k.id > ${from} and ${mayBeOurs} order by k.id limit ${ROWS_A_QUERY}`);
    const ids = rows.map(({ id }) => String(id));
    await saveUnlisted(
      tx,
      name,
      ids.filter((id) => shown.find(id) < 0),
    );
    after = ids.length < ROWS_A_QUERY ? null : (ids.at(-1) ?? null);
  }
}
