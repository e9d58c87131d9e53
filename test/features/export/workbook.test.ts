import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { Workbook } from '@cj-tech-master/excelts';
import { expect, test } from 'vitest';
import type { Values } from '../../../src/db/session/session.ts';
import { exportFile, exportWorkbook } from '../../../src/features/export/export.ts';
import type { ExportColumn } from '../../../src/features/export/read-rows.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const COLUMNS: readonly ExportColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'code', type: 'text' },
  { name: 'credit', type: 'decimal' },
  { name: 'credit_exact', type: 'exact' },
  { name: 'since', type: 'date' },
  { name: 'at', type: 'timestamp' },
  { name: 'begins', type: 'time' },
];

const HOW = { format: 'xlsx', onRows: () => undefined } as const;

function written(batches: AsyncIterable<readonly Values[]>) {
  const folder = tempFolder();
  const path = join(folder, 'x.xlsx');
  const source = {
    name: 'bi_a_view_with_a_name_longer_than_a_sheet',
    columns: COLUMNS,
    batches,
    dictionary: [],
  };
  return { folder, path, done: exportFile(source, path, { ...HOW, signal: new AbortController().signal }) };
}

async function* batchOf(rows: readonly Values[]): AsyncGenerator<readonly Values[]> {
  yield await Promise.resolve(rows);
}

async function bookOf(path: string): Promise<Workbook> {
  const book = new Workbook();
  await book.xlsx.readFile(path);
  return book;
}

test('a workbook has numbers, dates and times as such, and everything else as text', async () => {
  const nasty = '=HYPERLINK("x")\u0001 <é> \u{1f600}\ud800';
  const { path, done } = written(
    batchOf([
      [7, '000123', '12.50', '12.50', '2026-03-01', '2026-03-01 12:00:00.500', '06:00:00'],
      ['9223372036854775807', '-7', '-12345678901234.50', '-12345678901234.50', '0001-01-01', null, null],
      [null, nasty, null, null, null, null, null],
      [null, 'a'.repeat(40_000), null, null, null, null, null],
    ]),
  );

  expect(await done).toMatchObject({ rows: 4 });

  const [sheet, ...others] = (await bookOf(path)).worksheets;
  const valuesOf = (row: number): unknown[] =>
    COLUMNS.map((_, index) => sheet?.getCell(row, index + 1).value);
  expect(sheet?.name).toBe('bi_a_view_with_a_name_longer_th');
  expect(sheet?.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
  expect(valuesOf(1)).toEqual(COLUMNS.map(({ name }) => name));
  const [id, code, credit, exact, since, at, begins] = valuesOf(2);
  expect([id, code, credit, exact]).toEqual([7, '000123', 12.5, '12.50']);
  expect([since, at]).toEqual([new Date('2026-03-01T00:00:00Z'), new Date('2026-03-01T12:00:00.500Z')]);
  expect(begins).toEqual(new Date('1899-12-30T06:00:00Z'));
  expect(valuesOf(3)).toEqual([
    '9223372036854775807', '-7', '-12345678901234.50', '-12345678901234.50', '0001-01-01', null, null,
  ]); // prettier-ignore
  expect(valuesOf(4)[1]).toBe('=HYPERLINK("x") <é> \u{1f600}');
  expect(valuesOf(5)[1]).toBe(`${'a'.repeat(32_766)}…`);
  expect(others).toEqual([]);
});

test('a workbook for people has labels to filter by, marks what can be edited, and hides our own columns', async () => {
  const path = join(tempFolder(), 'clients.xlsx');
  const columns = [
    { name: 'id', type: 'integer' },
    { name: 'phone', type: 'text', heading: 'Téléphone', isEditable: true },
    { name: '_version', type: 'text', heading: '_version' },
  ] as const;
  const source = { name: 'bi_clients', columns, batches: batchOf([[7, '1', 'v']]), dictionary: [] };
  await exportFile(source, path, { ...HOW, signal: new AbortController().signal });

  const [sheet] = (await bookOf(path)).worksheets;
  expect(sheet?.getRow(1).values).toEqual([undefined, 'id', 'Téléphone', '_version']);
  expect(sheet?.autoFilter).toBe('A1:C2');
  expect(columns.map((_, at) => sheet?.getColumn(at + 1).hidden)).toEqual([false, false, true]);
  expect(columns.map((_, at) => sheet?.getCell(1, at + 1).font?.bold === true)).toEqual([false, true, false]);
});

test('a workbook holds no more rows than a sheet, and leaves no file then', async () => {
  // prettier-ignore
  const batch: readonly Values[] = Array.from({ length: 1_048_576 }, () => [
    null, null, null, null, null, null, null,
  ]);
  const { folder, done } = written(batchOf(batch));

  await expect(done).rejects.toMatchObject({ code: 'export.too_many_rows' });

  expect(readdirSync(folder)).toEqual([]);
});

test('a workbook is written no faster than its reader takes it, and ends once the reader has gone', async () => {
  const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(12_000))).toString('hex'); // Hardly packed.
  let read = 0;
  async function* batches(): AsyncGenerator<readonly Values[]> {
    for (; read < 40; read += 1)
      yield await Promise.resolve([[read, random(), null, null, null, null, null]] as const);
  }
  const begin = () => {
    read = 0;
    const stream = new PassThrough();
    const gone = new AbortController();
    const source = { name: 'bi_clients', columns: COLUMNS, batches: batches(), dictionary: [] };
    return { stream, gone, done: exportWorkbook(source, stream, { ...HOW, signal: gone.signal }) };
  };
  const untilItWaits = async (stream: PassThrough): Promise<void> => {
    while (!stream.writableNeedDrain) await turn();
    for (let n = 0; n < 100; n += 1) await turn();
  };

  const slow = begin();
  await untilItWaits(slow.stream);
  expect(read).toBeLessThan(20);
  const [bytes] = await Promise.all([buffer(slow.stream), slow.done]);
  expect(read).toBe(40);
  const book = new Workbook();
  await book.xlsx.load(bytes);
  expect(book.worksheets[0]?.rowCount).toBe(41);

  const left = begin();
  await untilItWaits(left.stream);
  left.gone.abort();
  await expect(left.done).rejects.toThrow();
  expect(read).toBeLessThan(20);
});
