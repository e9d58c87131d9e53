import { sql } from 'drizzle-orm';
import type { Transaction } from '../session/session.ts';
import { identifier, literal, sqlList, placeOf } from '../session/sql-text.ts';
import { DICTIONARY, RELATIONS } from '../tables/engine-tables.ts';
import { append } from '../tables/rows.ts';
import { OLD_CONTACTS } from './views.ts';
import type { View } from './draw-views.ts';

/**
 * Writes what `bi_dictionary` and `bi_relations` say of these views, in place of what they said, and PostgreSQL's comments.
 *
 * @param extent `all`: whatever they say of other views is removed.
 */
export async function describeViews(
  tx: Transaction,
  views: readonly View[],
  extent: 'all' | 'these',
): Promise<void> {
  const described = views.filter(({ name, isInner }) => name !== OLD_CONTACTS && isInner !== true);
  const names = sqlList(described.map(({ name }) => name));
  for (const table of [DICTIONARY, RELATIONS])
    await tx.query(
      sql`delete from ${sql.identifier(table.name)}${extent === 'all' ? sql`` : sql` where view in (${names})`}`,
    );
  await append(tx, DICTIONARY, described.flatMap(entriesOf));
  await append(tx, RELATIONS, described.flatMap(relationsOf));
  if (tx.dialect === 'postgres') await tx.execute(views.flatMap(commentsOn).join(';\n'));
}

const entriesOf = ({ name: view, columns }: View) =>
  columns.map(({ name: column, type, words, section = null }) => {
    const { en: labelEn, fr: labelFr, meaning, unit } = words;
    return { view, column, type, unit, meaning, section, labelEn, labelFr };
  });

const relationsOf = ({ name: view, columns }: View) =>
  columns.flatMap(({ name: column, refersTo, none = null }) =>
    refersTo === undefined ? [] : [{ view, column, toView: `bi_${refersTo}`, toColumn: 'id', none }],
  );

function commentsOn({ name, meaning, columns }: View): string[] {
  const view = placeOf(name);
  return [
    `comment on view ${view} is ${literal(meaning)}`,
    ...columns.map(({ name: column, words: { meaning: text, unit } }) => {
      const comment = unit === null ? text : `${text} Unit: ${unit}.`;
      return `comment on column ${view}.${identifier(column)} is ${literal(comment)}`;
    }),
  ];
}
