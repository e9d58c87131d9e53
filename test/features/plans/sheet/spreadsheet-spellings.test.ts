import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { makePlan } from '../../../../src/features/plans/work/make-plan.ts';
import { showPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { thrownBy } from '../../../store/temp-mirror.ts';
import { type DATABASES, ONE_DATABASE } from '../../../pull/steps.ts';
import { opened } from '../../../outbound/stage.ts';
import { edit, exported, planTexts } from '../work/support.ts';

const CLIENTS = [
  {
    code: 'MAR1',
    name: 'Zo\u0007é',
    credit: '1234.50',
    term: 1200,
    creation_date: '2020-01-15',
    city: 'Gaspé',
  },
  { code: '3-4', name: 'Ada', credit: '-12.00', term: 30, creation_date: '2020-03-04', city: 'Percé' },
  { code: 'true', name: 'Bob', credit: '1234.00', term: 45, creation_date: '2020-02-20', city: 'Matane' },
];

/** Clients, and the cells of their export. */
async function scene(database: (typeof DATABASES)[number]) {
  const on = await opened({ database, service: { size: 1 }, pulled: [] });
  const ids = CLIENTS.map((client) => String(on.service.world.insert('clients', client)['id'] as number));
  await on.pull('clients');
  const all = await exported(on);
  const lines = all.filter((line, index) => index === 0 || ids.includes(line[0] ?? ''));
  const [first = '', second = '', third = ''] = ids;
  const planOf = async (
    { separator = ',', end = '\r\n', before = '', flags = {} }: Form,
    some: readonly (readonly string[])[] = lines,
  ) => {
    const text = some
      .map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator))
      .join(end);
    const sheet = await readSheet('a.csv', Buffer.from(before + text));
    const asked = { kinds: KINDS, sheet, ...flags, origin: 'a.csv', createdBy: 'ada', now: on.clock.now() };
    const id = await makePlan(on.session, asked);
    return id === null ? [] : planTexts(await showPlan(on.session, KINDS, id));
  };
  return { on, lines, first, second, third, planOf };
}

interface Form {
  readonly separator?: string;
  readonly end?: string;
  readonly before?: string;
  readonly flags?: { readonly create?: boolean; readonly allowReordered?: boolean };
}

type Cells = Readonly<Record<string, string>>;

/** How spreadsheets of several countries show the same two clients. */
const UNTOUCHED: readonly (readonly [string, string, Cells, Cells])[] = [
  [
    'the United States',
    ',',
    { credit: '$1,234.50', term: '1,200', creation_date: '1/15/2020' },
    { credit: '($12.00)', creation_date: '3/4/2020' },
  ],
  ['the United States, years of two digits', ',', { creation_date: '1/15/20' }, { creation_date: '3/4/20' }],
  [
    'France',
    ';',
    { credit: '1\u202f234,50 €', creation_date: '15/01/2020' },
    { credit: '-12,00\u00a0€', creation_date: '04/03/2020' },
  ],
  [
    'Germany',
    ';',
    { credit: '1.234,50', term: '1.200', creation_date: '15.01.2020' },
    { credit: '-12', creation_date: '04.03.2020' },
  ],
  [
    'Switzerland',
    ';',
    { credit: "CHF 1'234.50", creation_date: '15.01.20' },
    { credit: '12.00-', creation_date: '4.3.2020' },
  ],
  [
    'the Netherlands',
    ';',
    { creation_date: '15-1-2020' },
    { credit: '\u2212 12,00', creation_date: '4-3-2020' },
  ],
  [
    'the Czech Republic',
    ';',
    { credit: '1 234,50', creation_date: '15. 1. 2020' },
    { creation_date: '4. 3. 2020' },
  ],
  [
    'French Canada',
    ';',
    { credit: '1\u00a0234,50 $', creation_date: '2020-01-15' },
    { credit: '(12,00 $)', creation_date: '2020-03-04' },
  ],
  ['Japan', ',', { creation_date: '2020/1/15' }, { creation_date: '2020/3/4' }],
  ['a sheet of dates as numbers', '\t', { creation_date: '43845' }, { creation_date: '43894' }],
];

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('an export carries the version of each record, which says whether it has moved on', async () => {
    const { on, lines, first, planOf } = await scene(database);
    const [head = [], row = []] = lines;
    expect(row[head.indexOf('_version')]).toMatch(/^v[\da-f]{10}$/);
    await on.pass(1);
    on.service.world.update('clients', Number(first), { term: 99 });
    await on.pull('clients');
    expect(await planOf({})).toEqual([]);
    edit(lines, first, { city: 'Québec' });
    expect(await planOf({})).toEqual([`${first} refused: record ${first} has changed since the export`]);
    expect((await exported(on))[1]?.[head.indexOf('_version')]).not.toBe(row[head.indexOf('_version')]);
  });
});

describe.each(ONE_DATABASE)('a spreadsheet, in %s', (database) => {
  test.each(UNTOUCHED)('of %s edits nothing by itself', async (_, separator, one, two) => {
    const { lines, first, second, planOf } = await scene(database);
    edit(lines, first, { ...one, name: 'Zoé', _changed_at: '11:44.0' });
    edit(lines, second, { ...two, _changed_at: '11:44.0' });
    expect(await planOf({ separator })).toEqual([]);
    edit(lines, first, { city: 'Québec' });
    expect(await planOf({ separator })).toEqual([`${first} city: "Gaspé" → "Québec"`]);
  });

  test.each<readonly [string, string, Cells, string]>([
    [
      'a date with its day and month in doubt',
      ',',
      { creation_date: '5/6/2021' },
      'creation_date: expected a clear date, got "5/6/2021": write 2021-06-05 or 2021-05-06',
    ],
    ['a number that may be the old one', ',', { credit: '1.234' }, 'credit: "1.234" may be 1234.00'],
    ['a thousand or a thousandth', ',', { term: '2,500' }, 'term: expected a number'],
    ['25,000 zeros', ',', { credit: `1${'0'.repeat(25_000)}` }, 'credit: expected a number'],
    ['25,000 zeros before a sign', ',', { term: `${'0'.repeat(25_000)}x` }, 'term: expected a number'],
    ['a truth', ',', { code: 'TRUE' }, 'code: a spreadsheet has converted it: it was true'],
  ])('refuses %s', async (_, separator, cells, why) => {
    const { lines, third, planOf } = await scene(database);
    edit(lines, third, cells);
    expect(await planOf({ separator })).toEqual([expect.stringContaining(`${third} refused: ${why}`)]);
  });

  test.each(['1-Mar', '01-mars', 'Mar-01', '2026-03-01', '3/1/2026'])('refuses %s for MAR1', async (code) => {
    const { lines, first, planOf } = await scene(database);
    edit(lines, first, { code, name: 'Zoé' });
    expect(await planOf({})).toEqual([expect.stringContaining('code: a spreadsheet has converted it')]);
  });

  test('takes another code of the same shape, and a date that can be read in one way only', async () => {
    const { lines, first, planOf } = await scene(database);
    edit(lines, first, { code: 'MAR2', creation_date: '1/31/2021', name: 'Zoé' });
    expect(await planOf({})).toEqual([
      `${first} code: "MAR1" → "MAR2"`,
      `${first} creation_date: "2020-01-15" → "2021-01-31"`,
    ]);
  });

  test('makes a record of a row without an id only if that is allowed', async () => {
    const { lines, planOf } = await scene(database);
    edit(lines, '', { name: 'Total', credit: '2456,50' });
    const form = { separator: ';' };
    expect(await planOf(form)).toEqual([expect.stringContaining('--create')]);
    expect(await planOf({ ...form, flags: { create: true } })).toEqual([
      'new name: null → "Total"',
      'new credit: null → "2456.50"',
    ]);
  });

  test.each<readonly [string, readonly string[]]>([
    ['city', ['Matane', 'Gaspé', 'Percé']],
    ['creation_date', ['3/4/2020', '1/15/2020', '2/20/2020'].toReversed()],
    ['credit', ['-12.00', '1,234.00', '1,234.50']],
  ])('refuses a column of %s that was sorted alone, unless that is allowed', async (column, texts) => {
    const { lines, first, second, third, planOf } = await scene(database);
    for (const [index, id] of [first, second, third].entries())
      edit(lines, id, { [column]: texts[index] ?? '' });
    expect(await thrownBy(() => planOf({}))).toMatchObject({
      code: 'usage.sheet',
      message: expect.stringContaining(
        `The new values of ${column} are its old ones in another order`,
      ) as string,
    });
    await planOf({ flags: { allowReordered: true } });
  });

  test.each<readonly [string, Form]>([
    ['a line that names the separator', { separator: ';', before: 'sep=;\r\n' }],
    ['a byte order mark and such a line', { separator: ';', before: '\ufeffsep=;\r\n' }],
    ['lines of an old Macintosh', { end: '\r' }],
    ['lines of Unix, and tabs', { end: '\n', separator: '\t', before: '\ufeff' }],
  ])('reads %s', async (_, form) => {
    const { lines, second, planOf } = await scene(database);
    edit(lines, second, { city: 'Québec;\nCanada, "sud"' });
    expect(await planOf(form)).toEqual([`${second} city: "Percé" → "Québec;\\nCanada, \\"sud\\""`]);
  });

  test.each<readonly [string, Uint8Array]>([
    ['is in UTF-16', Buffer.from('\ufeffid\tname\r\n', 'utf16le')],
    ['is in another encoding', Buffer.from('id;name\n1;Zoé', 'latin1')],
  ])('refuses CSV that %s', async (why, bytes) => {
    expect(await thrownBy(() => readSheet('a.csv', bytes))).toMatchObject({
      code: 'usage.sheet',
      message: expect.stringContaining(why) as string,
    });
  });
});
