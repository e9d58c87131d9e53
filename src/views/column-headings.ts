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

/** The names of a sheet's columns: what is no name of a column may be its heading, in the language that fits more of the sheet. */
export function namesOfHeadings(sheet: readonly string[], dictionary: readonly Row[]): readonly string[] {
  const names = new Set(dictionary.map((row) => String(row['column'])));
  const readings = LANGUAGES.map((language) => {
    const headings = [...columnHeadings(dictionary, language)];
    const byHeading = new Map(headings.map(([name, heading]) => [heading.toLowerCase(), name]));
    return sheet.map((heading) => byHeading.get(heading.toLowerCase()));
  });
  const found = (reading: (typeof readings)[number]): number =>
    reading.filter((name) => name !== undefined).length;
  const [first, second] = readings.sort((a, b) => found(b) - found(a));
  return sheet.map((heading, at) =>
    names.has(heading) ? heading : (first?.[at] ?? second?.[at] ?? heading),
  );
}
