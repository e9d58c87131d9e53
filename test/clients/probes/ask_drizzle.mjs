/**
 * Puts questions by the schema that `drizzle-kit pull` wrote: `tsx ask_drizzle.mjs QUESTIONS ANSWERS`, beside the page's mirror.ts; the
 * files are those of ask.py. A `select *` is asked of the schema; `keys` and `references` ask what it knows of its tables.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  getTableColumns,
  getTableName,
  getViewName,
  getViewSelectedFields,
  isTable,
  isView,
  sql,
} from 'drizzle-orm';
import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { mirror } from './mirror';
import * as schema from './schema/schema';

const nameOf = (source) => (isView(source) ? getViewName(source) : getTableName(source));
const sources = Object.values(schema).filter((one) => isView(one) || isTable(one));
const tables = sources.filter(isTable).map((table) => getTableConfig(table));

const KNOWN = {
  keys: () =>
    tables.map(({ name, columns, primaryKeys }) => [
      name,
      [...columns.filter(({ primary }) => primary), ...primaryKeys.flatMap((key) => key.columns)]
        .map((column) => column.name)
        .join(),
    ]),
  references: () =>
    tables.flatMap(({ name, foreignKeys }) =>
      foreignKeys.map((key) => {
        const { columns, foreignTable, foreignColumns } = key.reference();
        return [name, columns[0].name, getTableName(foreignTable), foreignColumns[0].name];
      }),
    ),
};

const text = (value) => (value === null ? null : String(value));

async function answer(question) {
  if (question in KNOWN) return { columns: [], rows: KNOWN[question]() };
  const view = /^select \* from (\w+)$/.exec(question)?.[1];
  const source = sources.find((one) => nameOf(one) === view);
  if (source !== undefined) {
    const columns = Object.entries(isView(source) ? getViewSelectedFields(source) : getTableColumns(source));
    const rows = await mirror.select().from(source);
    return {
      columns: columns.map(([, column]) => [column.name, column.getSQLType()]),
      rows: rows.map((row) => columns.map(([key]) => text(row[key]))),
    };
  }
  if (view !== undefined) return { error: 'not in the schema' };
  const asked = sql.raw(question);
  const rows = 'all' in mirror ? mirror.all(asked) : (await mirror.execute(asked)).rows;
  const names = Object.keys(rows[0] ?? {});
  return {
    columns: names.map((name) => [name, '']),
    rows: rows.map((row) => names.map((name) => text(row[name]))),
  };
}

const [questions, answers] = process.argv.slice(2);
const answered = [];
for (const question of JSON.parse(readFileSync(questions, 'utf8')))
  answered.push(await answer(question).catch((error) => ({ error: String(error) })));
writeFileSync(answers, JSON.stringify({ printed: '', answers: answered }));
