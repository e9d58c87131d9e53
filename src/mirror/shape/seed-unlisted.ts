import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { createIdNumbers } from '../../lib/ids/id-numbers.ts';
import { writeMeta } from '../kinds/meta.ts';
import type { Transaction } from '../session/session.ts';
import { saveUnlisted } from '../sightings/sighting-store.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { readNumber, readTexts, selectOne } from '../tables/rows.ts';

/**
 * Fills `unlisted_rows` in an earlier release's mirror with the rows that no kept sighting shows. That release kept no such
 * table, so all these rows are assumed to be ours.
 *
 * If no sighting has been removed yet, these are only rows that no list has ever shown.
 */
export async function seedUnlisted(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) await seedKind(tx, kind);
  const first = await selectOne(tx, CHANGES, sql`order by seq limit 1`);
  if (first !== null && first.seq > 1) await writeMeta(tx, 'changes.forgotten_before', first.observedAt);
}

const ROWS_A_QUERY = 5_000;

async function seedKind(tx: Transaction, { name }: Kind): Promise<void> {
  const state = await selectOne(tx, KIND_STATE, sql`where kind = ${name}`);
  if (state === null) return;
  const oldest = await readNumber(tx, sql`select min(sent) from sightings where kind = ${name}`);
  const isWhole = (oldest ?? 0) <= (state.knownFrom ?? 0) + 1;
  const shown = createIdNumbers();
  for (const ids of await readTexts(tx, sql`select ids from sightings where kind = ${name}`))
    shown.number(ids, () => undefined);
  // We never wrote a tick beyond the counter.
  const mayBeOurs = sql`_deleted_at is null and _response between 1 and ${state.tick}
    ${isWhole ? sql`and _listed is null` : sql``}`;
  for (let after: string | null = '0'; after !== null;) {
    const next = sql`
      select cast(k.id as text) from ${sql.identifier(name)} as k
      where k.id > ${after} and ${mayBeOurs} order by k.id limit ${ROWS_A_QUERY}`;
    const ids: readonly string[] = await readTexts(tx, next);
    await saveUnlisted(
      tx,
      name,
      ids.filter((id) => shown.find(id) < 0),
    );
    after = ids.length < ROWS_A_QUERY ? null : (ids.at(-1) ?? null);
  }
}
