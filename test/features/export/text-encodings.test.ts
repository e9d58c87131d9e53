import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvEncoding, excelEncoding, ndjsonEncoding } from '../../../src/features/export/text-encodings.ts';
import { exportColumns, orderingKey, type ExportColumn } from '../../../src/features/export/read-rows.ts';

const columns: readonly ExportColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'text' },
  { name: 'credit', type: 'decimal' },
  { name: 'credit_exact', type: 'exact' },
  { name: 'since', type: 'date' },
];

describe('CSV', () => {
  const cells = (values: readonly (string | number | null)[], isRaw = false): string =>
    csvEncoding(columns, isRaw).rows([values]);

  test('has a header, quotes what needs quotes, and tells an empty text from none', () => {
    expect(csvEncoding(columns, false).head).toBe('id,name,credit,credit_exact,since\r\n');
    expect(cells([1, 'a "b", c', '10.00', '10.00', '2026-03-01'])).toBe(
      '1,"a ""b"", c",10.00,10.00,2026-03-01\r\n',
    );
    expect(cells(['9223372036854775807', '', null, null, null])).toBe('9223372036854775807,"",,,\r\n');
    expect(cells([1, 'two\nlines', null, null, null])).toBe('1,"two\nlines",,,\r\n');
  });

  test.each(
    // prettier-ignore
    [
      '=1+1', '+1 514 555-0123', '-5', '@x', '\tx', '\rx', '  =1', ' \u{a0}-x', '＝1', '＋1', '－1', '＠x',
    ],
  )('a text %j gets an apostrophe', (text) => {
    const cell = cells([1, text, null, null, null]);
    const raw = cells([1, text, null, null, null], true);
    expect(cell.replaceAll('"', '')).toBe(`1,'${text},,,\r\n`);
    expect(raw.replaceAll('"', '')).toBe(`1,${text},,,\r\n`);
  });

  test.each([
    ['a;=1+1', "a;'=1+1"],
    ['a; \u{a0}-1;＋2', "a;' \u{a0}-1;'＋2"],
    ['a\t=1', "a\t'=1"],
    ['\n=1', "'\n'=1"],
  ])('%j, which another country’s spreadsheet would split, is guarded where it would', (text, guarded) => {
    expect(cells([1, text, null, null, null]).replaceAll('"', '')).toBe(`1,${guarded},,,\r\n`);
    expect(cells([1, text, null, null, null], true).replaceAll('"', '')).toBe(`1,${text},,,\r\n`);
  });

  test.each(['a=1', 'x', 'a; b', "'x", '5', '(514) 555-0123', ' x'])('a text %j gets none', (text) => {
    expect(cells([1, text, null, null, null])).toBe(`1,${text},,,\r\n`);
  });

  test('amounts and numbers are never touched; a text in the place of an amount is', () => {
    expect(cells([-7, 'x', '-12.50', '-12.50', null])).toBe('-7,x,-12.50,-12.50,\r\n');
    expect(cells([1, 'x', null, '=cmd()', null])).toBe("1,x,,'=cmd(),\r\n");
  });

  test('a reader of RFC 4180 gets every raw text back', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (texts) => {
        const named = texts.map((_, index): ExportColumn => ({ name: `c${index}`, type: 'text' }));
        expect(readCsv(csvEncoding(named, true).rows([texts]))).toEqual([texts]);
      }),
    );
  });
});

/** A reader of RFC 4180, character by character. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (isQuoted && letter === '"' && text[at + 1] === '"') cell += text.charAt(++at);
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && letter === ',') {
      row.push(cell);
      cell = '';
    } else if (!isQuoted && letter === '\r') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at++;
    } else cell += letter;
  }
  return rows;
}

describe('CSV for Excel in French', () => {
  const wide: readonly ExportColumn[] = [
    ...columns,
    { name: 'at', type: 'timestamp' },
    { name: 'begins', type: 'time' },
    { name: 'any', type: 'untyped' },
  ];
  const row = ['-7', 'é', '-12.50', '-12.50', '2026-03-01', '2026-03-01 12:00:00.123', '08:00:00', 1.5];
  const named = (text: string, isRaw = false): string =>
    excelEncoding([{ name: 'name', type: 'text' }], isRaw)
      .rows([[text]])
      .slice(0, -2);

  test('has a byte-order mark, semicolons, decimal commas, and instants to the second', () => {
    const { head, rows } = excelEncoding(wide, false);
    expect(head).toBe('\u{feff}id;name;credit;credit_exact;since;at;begins;any\r\n');
    expect(rows([row])).toBe('-7;é;-12,50;-12,50;2026-03-01;2026-03-01 12:00:00;08:00:00;1,5\r\n');
    expect(rows([wide.map(() => null)])).toBe(';;;;;;;\r\n');
  });

  test('digits that Excel would round are text', () => {
    const { rows } = excelEncoding(columns, false);
    expect(rows([['123456789012345', '', '-12345678901234.50', '0.123456789012345', null]])).toBe(
      '123456789012345;"";"\t-12345678901234,50";0,123456789012345;\r\n',
    );
  });

  test.each([
    '000123', '5', ' 5', '1e5', '12,5', '5 %', '3-4', '1/2', '12:30', '2026-03-01', '5145550123', '(12)', '12 h',
    'mars 5', '1 août', 'DÉC-25', 'VRAI', 'false',
  ])('%j stays a text', (text) => {
    expect(named(text)).toBe(`"\t${text}"`);
    expect(named(text, true)).toBe(text);
  }); // prettier-ignore

  test.each(['', 'H7N 4M9', '(450) 555-0123', '2471, rue du Marché', 'mars x5', 'x'])(
    '%j is one by itself',
    (text) => {
      expect(named(text)).toBe(text === '' ? '""' : text);
    },
  );

  test('a formula is none, nor behind a comma at which an English Excel begins a cell', () => {
    expect(named('-7')).toBe("'-7");
    expect(named('a,=1')).toBe("a,'=1");
    expect(named('a;=1')).toBe('"a;=1"');
    expect(named('=1', true)).toBe('=1');
  });
});

test('NDJSON writes numbers with all their digits, and everything else as text', () => {
  const { rows } = ndjsonEncoding(columns);
  const values = ['9223372036854775807', 'é "x"\n', '10.00', '10.00', '2026-03-01'];
  expect(rows([values, [1, null, '-0.0001', 'x', null]])).toBe(
    '{"id":9223372036854775807,"name":"é \\"x\\"\\n","credit":10.00,"credit_exact":"10.00","since":"2026-03-01"}\n' +
      '{"id":1,"name":null,"credit":-0.0001,"credit_exact":"x","since":null}\n',
  );
});

test('both databases declare the same types in other words', () => {
  const named = (...types: readonly string[]) => {
    const names = ['id', 'name', 'credit', 'credit_exact', 'since', 'at', 'ratio', 'price', 'price_exact'];
    return names.map((name, index) => ({ name, type: types[index] ?? '' }));
  };
  const sqlite = named('bigint', 'text', 'real', 'text', 'date', 'timestamp', 'real', '', '');
  const postgres = named(
    'bigint',
    'text',
    'numeric',
    'text',
    'date',
    'timestamp with time zone',
    'double precision',
    'numeric',
    'text',
  );
  const types = exportColumns(sqlite);
  expect(types).toEqual(exportColumns(postgres));
  expect(types.map(({ type }) => type)).toEqual(
    // prettier-ignore
    [
      'integer', 'text', 'decimal', 'exact', 'date', 'timestamp', 'real', 'decimal', 'exact',
    ],
  );
});

test('a view is read by the columns that name its rows', () => {
  const having = (...names: readonly string[]): ExportColumn[] =>
    names.map((name) => ({ name, type: 'integer' }));
  expect(orderingKey('bi_clients', having('id', 'code'))).toEqual(['id']);
  expect(orderingKey('bi_clients_contacts', having('parent_id', 'position', 'id'))).toEqual([
    'parent_id',
    'position',
  ]);
  expect(orderingKey('bi_clients_history', having('id', 'seq'))).toEqual(['id', 'seq']);
  expect(orderingKey('bi_changes', having('seq', 'kind'))).toEqual(['seq']);
  expect(orderingKey('bi_sync_status', having('kind', 'state'))).toBeNull();
});
