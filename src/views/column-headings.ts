import { sql } from 'drizzle-orm';
import type { Queryable, Row } from '../db/session/session.ts';
import { LANGUAGES, type Language } from '../lib/text/translator.ts';

/** Reads the rows of `bi_dictionary` for a view's columns. */
export const readDictionary = (db: Queryable, view: string): Promise<readonly Row[]> =>
  db.query(sql`select * from bi_dictionary where ${sql.identifier('view')} = ${view}`);

/** The headings of a view's columns in a workbook, by their names: labels; of a label that columns share, each has its name behind it. */
export function columnHeadings(dictionary: readonly Row[], language: Language): ReadonlyMap<string, string> {
  const columns = dictionary.filter((row) => !isTechnical(String(row['column'])));
  const labels = columns.map((row) => [String(row['column']), String(row[`label_${language}`])] as const);
  const alike = Map.groupBy(labels, ([, label]) => label.toLowerCase());
  return new Map(
    labels.map(([name, label]) => {
      const isShared = (alike.get(label.toLowerCase())?.length ?? 0) > 1;
      return [name, isShared ? `${label} (${name})` : label];
    }),
  );
}

/** A column of our own, which nobody edits: it keeps its name, and a workbook hides it. */
export const isTechnical = (column: string): boolean => column.startsWith('_');

/** The names of a sheet's columns, each of which may be a heading in either language, unless that is the heading of two columns. */
export function namesOfHeadings(sheet: readonly string[], dictionary: readonly Row[]): readonly string[] {
  const names = new Map<string, string>();
  for (const language of LANGUAGES)
    for (const [name, heading] of columnHeadings(dictionary, language)) {
      const key = heading.toLowerCase();
      names.set(key, (names.get(key) ?? name) === name ? name : heading);
    }
  for (const { column } of dictionary) names.set(String(column), String(column));
  return sheet.map((heading) => names.get(heading) ?? names.get(heading.toLowerCase()) ?? heading);
}
