import { describe, expect, test } from 'vitest';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { thrownBy } from '../../../store/temp-mirror.ts';
import { sheetOf, textRow, workbookOf } from './workbooks.ts';

const HEAD = textRow(1, ['id', '_version', 'name']);
const ROW = textRow(2, ['7', 'v0123456789', 'Zoé']);

const repeated = (text: string, times: number): string => text.repeat(times);

const styled = Array.from({ length: 16_384 }, (_, n) => `<c r="${letters(n)}3" s="1"/>`).join('');

/** The name of a column. */
function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

const csv = (text: string): Uint8Array => Buffer.from(text);

const SMALL: readonly (readonly [string, string, () => Uint8Array])[] = [
  [
    'a blank in the last row and column',
    'a.xlsx',
    () =>
      workbookOf(
        sheetOf(`${HEAD}${ROW}<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t/></is></c></row>`),
      ),
  ],
  [
    'cells merged to the last row and column',
    'a.xlsx',
    () => workbookOf(sheetOf(HEAD + ROW, '', '<mergeCells><mergeCell ref="D1:XFD1048576"/></mergeCells>')),
  ],
  [
    'columns styled to the last',
    'a.xlsx',
    () =>
      workbookOf(
        sheetOf(
          `${HEAD}${ROW}<row r="3">${styled}</row>`,
          '<dimension ref="A1:XFD1048576"/><cols><col min="1" max="16384" style="1"/></cols>',
        ),
      ),
  ],
  ['a million blank rows', 'a.xlsx', () => workbookOf(sheetOf(HEAD + ROW + repeated('<row/>', 1_000_000)))],
  [
    'a million blank lines',
    'a.csv',
    () => csv(`id,_version,name\n7,v0123456789,Zoé\n${repeated('\n', 1_000_000)}`),
  ],
  [
    'two million separators in a line',
    'a.csv',
    () => csv(`id,_version,name\n7,v0123456789,Zoé${repeated(',', 2_000_000)}`),
  ],
];

const LARGE: readonly (readonly [string, string, () => Uint8Array, string])[] = [
  [
    'a seventh of a megabyte that unpacks to 140',
    'a.xlsx',
    () => workbookOf(Buffer.concat([Buffer.from('<worksheet>'), Buffer.alloc(140_000_000, '<x/>')])),
    'bytes once it is unpacked',
  ],
  [
    'texts that unpack to 140 MB',
    'a.xlsx',
    () =>
      workbookOf(sheetOf(HEAD + ROW), {
        'xl/sharedStrings.xml': Buffer.concat([Buffer.from('<sst><si><t>'), Buffer.alloc(140_000_000, 'a')]),
      }),
    'bytes in one element',
  ],
  [
    'a million attributes of one element',
    'a.xlsx',
    () => workbookOf(`<worksheet ${Array.from({ length: 1_000_000 }, (_, n) => `a${n}="1"`).join(' ')}/>`),
    'bytes in one element',
  ],
  ['more rows than a plan can show', 'a.csv', () => csv(`id\n${repeated('1\n', 300_001)}`), '300000 rows'],
  ...['<row r="2"/><row r="2"/>', '<row r="-1"/>', '<row r="1e9"/>', '<row r="1.5"/>', '<row r="x"/>'].map(
    (rows): (typeof LARGE)[number] => [
      `rows out of order: ${rows}`,
      'a.xlsx',
      () => workbookOf(sheetOf(HEAD + rows)),
      'not numbered in their order',
    ],
  ),
  ['300,000 columns', 'a.csv', () => csv(`id${repeated(',a', 300_000)}\n7`), '1000 columns'],
  [
    'too many cells',
    'a.xlsx',
    () => workbookOf(sheetOf(HEAD + repeated(`<row>${repeated('<c><v>1</v></c>', 100)}</row>`, 30_001))),
    '3000000 cells',
  ],
  [
    'a text of 32,000 letters in 100,000 cells',
    'a.xlsx',
    () =>
      workbookOf(sheetOf(HEAD + repeated('<row><c t="s"><v>0</v></c></row>', 100_000)), {
        'xl/sharedStrings.xml': `<sst><si><t>${repeated('a', 32_000)}</t></si></sst>`,
      }),
    'characters',
  ],
  [
    'a cell that no spreadsheet holds',
    'a.xlsx',
    () => workbookOf(sheetOf(HEAD + textRow(2, ['7', repeated('a', 40_000)]))),
    '32767 characters in a cell',
  ],
  [
    'a cell of CSV that no workbook holds',
    'a.csv',
    () => csv(`id,_version,name\n7,v0123456789,${repeated(' ', 40_000)}x`),
    '32767 characters in a cell',
  ],
  [
    'elements within elements',
    'a.xlsx',
    () => workbookOf(repeated('<a>', 1_000_000)),
    'neither a workbook nor CSV',
  ],
  [
    'entities of entities',
    'a.xlsx',
    () =>
      workbookOf(
        `<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${sheetOf(textRow(1, ['id', '&b;']))}`,
      ),
    'neither a workbook nor CSV',
  ],
  [
    'quotes without an end',
    'a.csv',
    () => csv(`id,name\n7,"Zoé${repeated('""', 1_000_000)}`),
    'quotation mark has no end',
  ],
];

describe('the sheet reader', () => {
  test.each(SMALL)('reads only the cells that exist of %s', async (_, name, bytes) => {
    const { columns, rows } = await readSheet(name, bytes());
    expect(columns).toEqual(['id', '_version', 'name']);
    expect(rows.map(({ cells }) => [...cells.values()].map(({ text }) => text))).toEqual([
      ['7', 'v0123456789', 'Zoé'],
    ]);
  });

  test.each(LARGE)('refuses %s', async (_, name, bytes, why) => {
    const file = bytes();
    expect(await thrownBy(() => readSheet(name, file))).toMatchObject({
      code: 'usage.sheet',
      message: expect.stringContaining(why) as string,
    });
  });
});
