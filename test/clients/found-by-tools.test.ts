import { Big } from 'big.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf } from '../../scripts/clients/pages.ts';
import { compactJson, type Json } from '../../src/lib/json/json.ts';
import { filesFor, runIn } from './ask.ts';
import { askDrizzle } from './ask-drizzle.ts';
import { saveSheet } from './ask-visidata.ts';
import { EXACT } from './client.ts';
import { inSnapshot, readMirrors, spelled, type DatabaseName, type MirrorView } from './mirrors.ts';
import { openStage, type Stage } from './stage.ts';
import { sumsOf } from './truth.ts';

let stage: Stage;
let mirrors: Awaited<ReturnType<typeof readMirrors>>;

beforeAll(async () => {
  stage = await openStage();
  mirrors = await readMirrors(stage);
});
afterAll(() => stage[Symbol.asyncDispose]());

const DATABASES: readonly DatabaseName[] = ['SQLite', 'PostgreSQL'];

/** The views that a tool finds: in SQLite those of the snapshot. */
const viewsOf = (database: DatabaseName): readonly MirrorView[] =>
  database === 'SQLite' ? inSnapshot(mirrors.SQLite) : mirrors.PostgreSQL;

const namesOf = (database: DatabaseName): readonly string[] => viewsOf(database).map(({ name }) => name);

/** The rows of a view of the mirror about itself, columns by their names. */
function rowsOf(view: string): readonly Readonly<Record<string, string | null>>[] {
  const { columns = [], rows = [] } = mirrors.PostgreSQL.find(({ name }) => name === view) ?? {};
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])));
}

/** The key of each kind's table, and of the tables of its nested arrays. */
const keysOf = (): ReadonlyMap<string, string> =>
  new Map([
    ...rowsOf('bi_sync_status').map(({ kind }) => [`bi_${kind ?? ''}`, 'id'] as const),
    ...rowsOf('bi_relations')
      .filter(({ column }) => column === 'parent_id')
      .map(({ view }) => [view ?? '', 'parent_id,position'] as const),
  ]);

/** What a page prints of the schema. */
function schemaBy(page: string, database: DatabaseName): Promise<string> {
  const { page: path } = filesFor(stage, codeOf(page, 'python', [database, 'Schema']), '');
  return runIn(stage, page, ['python', path]);
}

test.each([
  ['langchain', /CREATE TABLE (\w+) \(.*?\n\)/gs, /FOREIGN KEY\((\w+)\) REFERENCES (\w+) \((\w+)\)/g],
  ['llamaindex', /Table '(\w+)' has columns: .*/g, /\['(\w+)'\] -> (\w+)\.\['(\w+)'\]/g],
])('%s shows a model the tables of a snapshot with their references', async (page, tables, references) => {
  const printed = await schemaBy(page, 'SQLite');
  const found = Array.from(printed.matchAll(tables), ([text, view = '']) => ({ text, view }));
  expect(found.map(({ view }) => view).sort()).toEqual([...namesOf('SQLite'), 'bi_snapshot'].sort());
  const shown = found.flatMap(({ text, view }) =>
    Array.from(text.matchAll(references), ([, ...reference]) => [view, ...reference].join(' ')),
  );
  expect(shown.sort()).toEqual(allReferences());
  if (page !== 'langchain') return;
  for (const [view, key] of keysOf())
    expect(found.find((one) => one.view === view)?.text).toContain(`PRIMARY KEY (${key.replace(',', ', ')})`);
});

const allReferences = (): readonly string[] =>
  rowsOf('bi_relations')
    .map((row) => [row['view'], row['column'], row['to_view'], row['to_column']].join(' '))
    .sort();

test.each([
  ['langchain', /CREATE TABLE (\w+) \(/g],
  ['llamaindex', /Table '(\w+)' has columns: /g],
])('%s shows a model the views alone to the reader role, with their comments', async (page, views) => {
  const printed = await schemaBy(page, 'PostgreSQL');
  expect(Array.from(printed.matchAll(views), ([, view]) => view).sort()).toEqual(namesOf('PostgreSQL'));
  const meanings = rowsOf('bi_dictionary').map(({ meaning }) => meaning ?? '');
  const quoted = printed.replaceAll("\\'", "'");
  expect(meanings.filter((meaning) => !quoted.includes(meaning))).toEqual([]);
  expect(meanings.length).toBeGreaterThan(500);
});

test('Drizzle finds the keys and references of a snapshot', async () => {
  const connected = { page: 'drizzle', section: 'SQLite' };
  const { answers } = await askDrizzle(stage, connected, ['keys', 'references']);
  const [keys = [], references = []] = answers.map((answer) => ('rows' in answer ? answer.rows : []));
  const isPulled = (name: string): boolean => name.startsWith('bi_'); // As the page asks.
  const named = [...keysOf()].filter(([view]) => isPulled(view));
  expect(keys).toEqual(expect.arrayContaining(named.map((pair) => [...pair])));
  expect(references.map((row) => row.join(' ')).sort()).toEqual(allReferences().filter(isPulled));
});

test('VisiData lists the tables of a snapshot with their keys, and the views alone to the reader role', async () => {
  const sheets = await saveSheet(stage, 'SQLite', null);
  const keys = new Map(sheets.map(({ name, keys: of }) => [name, of]));
  expect([...keys.keys()].sort()).toEqual([...namesOf('SQLite'), 'bi_snapshot'].sort());
  for (const [view, key] of keysOf()) expect(keys.get(view), view).toBe(key.replace(',', ' '));
  const views = await saveSheet(stage, 'PostgreSQL', null);
  expect(views.map(({ table_name: name }) => name).sort()).toEqual(namesOf('PostgreSQL'));
});

test.each(DATABASES)(
  'VisiData gives every value of every view on %s, whose sums are those of the sandbox',
  async (database) => {
    const exactness = database === 'SQLite' ? ({ integers: 'exact', decimals: 'double' } as const) : EXACT;
    const sums = sumsOf(stage);
    for (const view of viewsOf(database)) {
      const columns = view.columns.filter(({ name }) => name !== 'lag_seconds'); // It changes while it is read.
      const rows = await saveSheet(stage, database, view.name);
      const got = rows.map((row) =>
        columns.map(({ name, sort }) => spelled(textOf(row[name]), sort, exactness)),
      );
      const expected = view.rows.map((row) =>
        view.columns.flatMap((column, at) =>
          columns.includes(column) ? [spelled(row[at] ?? null, column.sort, exactness)] : [],
        ),
      );
      const lines = (table: readonly unknown[]): readonly string[] =>
        table.map((row) => JSON.stringify(row)).sort();
      expect(lines(got), view.name).toEqual(lines(expected));
      for (const [column, units] of Object.entries(sums.find((one) => one.view === view.name)?.units ?? {})) {
        const known = rows.flatMap((row) => textOf(row[column]) ?? []);
        const sum = known.reduce((total, value) => total.plus(value), new Big(0)).toFixed();
        expect(known.length === 0 ? null : sum, `${view.name}.${column}`).toBe(units);
      }
    }
  },
);

const textOf = (value: Json | undefined): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : compactJson(value);
