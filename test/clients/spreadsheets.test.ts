import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';
import { runProgram } from '../support/program.ts';
import { askMirror, type DatabaseName, type Row } from './mirrors.ts';
import { openInOffice, type Cell } from './office.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const COLUMNS = ['id', 'code', 'name', 'creation_date', 'credit', 'credit_exact', '_changed_at'] as const;

const url = (database: DatabaseName): string =>
  database === 'SQLite'
    ? `file:${join(stage.folder, 'data/mirror.db')}`
    : (stage.settings['DATABASE_URL'] ?? '');

/** The columns of a sheet of clients by their id. */
function clientsIn(rows: readonly (readonly (Cell | null)[])[]) {
  const [names = [], ...records] = rows;
  const place = (name: string): number => names.findIndex((cell) => cell?.value === name);
  return new Map(
    records.map((cells) => [
      cells[place('id')]?.value,
      Object.fromEntries(COLUMNS.map((name) => [name, cells[place(name)] ?? null])),
    ]),
  );
}

type Name = (typeof COLUMNS)[number];

const TYPES: Readonly<Record<Name, string>> = {
  id: 'float',
  code: 'string',
  name: 'string',
  creation_date: 'date',
  credit: 'float',
  credit_exact: 'string',
  _changed_at: 'date',
};

/** What a cell shows, without the sign that keeps a text one. */
function shown(cell: Cell | null, name: Name): string | null {
  if (cell === null) return null;
  const bare = cell.type === 'string' ? withoutSpaces(cell.value.replace(/^'/, '')) : cell.value;
  if (name === 'credit' || name === 'credit_exact') return `amount ${Number(bare.replace(',', '.'))}`;
  return `${cell.type} ${name === '_changed_at' ? bare.slice(0, 10) : bare}`;
}

function wanted(row: Row, name: Name): string | null {
  const value = row[COLUMNS.indexOf(name)] ?? '';
  if (value === '') return null;
  if (name === 'credit' || name === 'credit_exact') return `amount ${Number(value)}`;
  return `${TYPES[name]} ${name === '_changed_at' ? value.slice(0, 10) : withoutSpaces(value)}`;
}

/** LibreOffice writes tabs and ends of lines in its own way. */
const withoutSpaces = (text: string): string => text.replaceAll(/\s/g, '');

describe.each(['SQLite', 'PostgreSQL'] as const)('LibreOffice in French, of %s', (database) => {
  test.each(['csv', 'xlsx'])('opens %s with the types of the view, and without a formula', async (format) => {
    const path = join(tempFolder(), `clients.${format}`);
    const form = format === 'csv' ? ['--excel'] : ['--full'];
    const env = { DATABASE_URL: url(database), BMS__BI__READER_ROLE: 'analyst' };
    const exported = await runProgram(['export', 'clients', ...form, '--out', path], { env });
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    const rows = await askMirror(
      stage,
      database,
      `select ${COLUMNS.join(', ')} from bi_clients where id < 9007199254740992`,
    );

    const { formulas, sheets } = await openInOffice(path);

    expect(formulas).toBe(0);
    expect([...sheets.keys()]).toEqual(format === 'csv' ? ['clients'] : ['bi_clients']);
    const [sheet = []] = sheets.values();
    const opened = clientsIn(sheet);
    const asOpened = rows.map(([id]) => opened.get(id ?? ''));
    const columnOf = (name: (typeof COLUMNS)[number]) => ({
      opened: asOpened.map((cells) => shown(cells?.[name] ?? null, name)),
      expected: rows.map((row) => wanted(row, name)),
    });
    for (const name of COLUMNS) {
      const column = columnOf(name);
      expect(column.opened, name).toEqual(column.expected);
    }
    expect(rows.length).toBeGreaterThan(100);
  });
});
