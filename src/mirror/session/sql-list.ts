import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';

/** The values of an `in (…)`, as parameters. */
export function sqlList(values: readonly string[]): SQL {
  return sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  );
}
