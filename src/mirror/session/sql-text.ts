import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';

/** Quotes a table or column name for SQL; it may contain any character. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text for the few statements that take no parameters: views and comments. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The values of an `in (…)`, as parameters. */
export function sqlList(values: readonly (string | number)[]): SQL {
  return sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  );
}

const VALUES_A_STATEMENT = 500;

/** Splits values over several statements, each of which takes a limited number of parameters. */
export function inChunks<T>(values: readonly T[], size = VALUES_A_STATEMENT): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let from = 0; from < values.length; from += size) chunks.push(values.slice(from, from + size));
  return chunks;
}
