import type pg from 'pg';
import { watch } from './watch.ts';

/** Looks at every row of some tables. In one question: to ask each table alone takes longer than all that they hold. */
export async function lookAtTables(client: pg.Client, names: readonly string[]): Promise<void> {
  const questions = names.map(
    (name, at) => `select ${at} as at, coalesce(string_agg(t::text, e'\\n'), '') as rows from ${name} t`,
  );
  if (questions.length === 0) return;
  const { rows: tables } = await client.query<{ at: number; rows: string }>(questions.join(' union all '));
  for (const { at, rows } of tables)
    watch.look({ place: 'PostgreSQL tables', what: () => names[at] ?? '' }, rows);
}
