import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canSend } from '../src/dashboard/parts/decisions.ts';
import { maskSecrets, secretPattern } from '../src/lib/text/mask-secrets.ts';
import { plainText } from '../src/features/plans/sheet/read-cell.ts';
import { readSheet } from '../src/features/plans/sheet/read-sheet.ts';
import { detectDayFirst, isTakenForDate, parseNumber } from '../src/features/plans/sheet/spellings.ts';
import { REPORTS } from '../src/features/reports/read-reports.ts';
import { neededKinds } from '../src/features/reports/report.ts';
import { csvEncoding, excelEncoding } from '../src/features/export/text-encodings.ts';
import { translatorFor } from '../src/lib/text/translator.ts';
import { translateReason } from '../src/words/stored-reasons.ts';
import { serveMirror } from './http/stage.ts';
import { kindNamed, tempMirror } from './store/temp-mirror.ts';
import { processorMs } from './support/processor-ms.ts';

const FRENCH = translatorFor('fr');
const COLUMN = [{ name: 'name', type: 'text' }] as const;
const csv = (text: string) => csvEncoding(COLUMN, false).rows([[text]]);
const excel = (text: string) => excelEncoding(COLUMN, false).rows([[text]]);
const sheet = (text: string) => readSheet('a.csv', Buffer.from(`id${text}`)).catch(() => null);
const mask = (secret: string) => (text: string) => maskSecrets([secret])(`${text}${secret}@`);

/** Patterns that are made of parts, which the linter cannot judge: the name, the file, what runs it, and what it must have matched first. */
const MADE: readonly (readonly [string, string, (text: string) => unknown, readonly string[]])[] = [
  ['FORMULA', 'features/export/text-encodings', csv, ['']],
  ['createFormulaGuard', 'features/export/text-encodings', excel, [',', '\t']],
  ['neededKinds', 'features/reports/report', (sql) => neededKinds({ sql }), ['bi_']],
  ['readCsvRows', 'features/plans/sheet/read-sheet', sheet, ['', ',"']],
  ['GUARD', 'features/plans/sheet/read-cell', plainText, ['', "'", " '"]],
  ['INNER_GUARD', 'features/plans/sheet/read-cell', plainText, [";'", "\t'"]],
  ['SIGNED', 'features/plans/sheet/spellings', (text) => parseNumber(text, '.'), ['', '$', '-', '1']],
  ['DATE_LIKE', 'features/plans/sheet/spellings', (text) => isTakenForDate(text, text), ['', '1-', 'mar']],
  ['SHOWN_DATE', 'features/plans/sheet/spellings', (text) => isTakenForDate(text, 'MAR1'), ['', '1-', 'mar']],
  [
    'BEFORE',
    'lib/text/mask-secrets',
    mask('postgres'),
    ['', 'password', '--token', 'auth args ', 'https://'],
  ],
  ['AFTER_IN_URL', 'lib/text/mask-secrets', mask('postgres'), ['postgres%', 'https://postgres\\']],
  [
    'secretPattern',
    'lib/text/mask-secrets',
    (text) => text.replace(secretPattern('%\\u'), ''),
    ['%', '%25\\'],
  ],
  ['REFUSALS', 'words/stored-reasons', (text) => translateReason(text, FRENCH), ['', 'Line 1: ', '"']],
  ['FORMS', 'dashboard/parts/decisions', (path) => canSend('admin', path), ['/plans/', '/outbox/1/']],
];

/** Patterns that once took seconds for a text of strangers. */
const LITERAL: readonly (readonly [string, (text: string) => unknown, readonly string[]])[] = [
  ['TYPED_FORMS', excel, ['', '1', '(1', 'mar']],
  ['BEFORE_CLOCK', (text) => detectDayFirst([text]), ['', '2026-03-01 10:']],
];

const SIGNS = ' \t\n\r\u00a00123aAeT-+=.,;:/\\\'"%_[({$'.match(/[^]/g) ?? [];
const COUNT = 100_000;

test.each([...MADE.map(([name, , run, prefixes]) => [name, run, prefixes] as const), ...LITERAL])(
  'the cost of %s grows no faster than its text',
  async (_name, run, prefixes) => {
    for (const prefix of prefixes)
      for (const sign of SIGNS) {
        const text = `${prefix}${sign.repeat(COUNT)}\u0001`; // The last sign fits no pattern.
        expect(await processorMs(() => run(text)), `${prefix}${sign}…`).toBeLessThan(2_000);
      }
  },
);

test('every pattern that is made of parts is among them', () => {
  const found = globSync('{src,sandbox}/**/*.{ts,js}').flatMap((path) => {
    const count = readFileSync(path, 'utf8').split('new RegExp(').length - 1;
    return count === 0 ? [] : [`${path.replace(/^src\//, '').replace('.ts', '')}: ${count}`];
  });
  const files = MADE.map(([, file]) => file);
  const counts = files.map((file) => `${file}: ${files.filter((each) => each === file).length}`);
  expect(found.toSorted()).toEqual([...new Set(counts)].toSorted());
  expect(REPORTS.flatMap(neededKinds)).toContain('sales');
});

const BLANKS = ' '.repeat(15_000);

test.each([
  ['accept-language', `a${BLANKS}b`],
  ['accept-language', `a-${'b,'.repeat(7_000)}`],
  ['authorization', `Bearer a${BLANKS}b`],
])('forty requests of strangers with 15 kB of %s cost less than two seconds', async (name, value) => {
  const { get } = await serveMirror(await tempMirror([kindNamed('clients')]));
  const ask = () =>
    Promise.all(Array.from({ length: 40 }, () => get('/', { authorization: '', [name]: value })));
  expect(await processorMs(ask)).toBeLessThan(2_000);
});
