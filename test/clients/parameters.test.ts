import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf } from '../../scripts/clients/pages.ts';
import { MAIN } from '../support/program.ts';
import { askJava, askPython } from './ask.ts';
import type { Ask } from './client.ts';
import { askMirror } from './mirrors.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

interface Filter {
  readonly type: 'date' | 'timestamp' | 'decimal' | 'float' | 'integer' | 'flag' | 'text';
  /** The column whose value the filter asks for. */
  readonly of: string;
  readonly where: string;
}

const COMPARED: readonly Filter[] = [
  { type: 'decimal', of: 'credit_exact', where: 'credit = ?' },
  { type: 'integer', of: 'credit_e4', where: 'credit_e4 = ?' },
  { type: 'integer', of: 'credit_e4', where: 'credit_e4 + 0 = ?' },
  { type: 'text', of: 'code', where: 'code = ?' },
  { type: 'text', of: 'code', where: "coalesce(code, '') = ?" },
  { type: 'float', of: 'credit_exact', where: 'credit + 0 = ?' },
  { type: 'integer', of: 'inactive', where: 'inactive = ?' },
  { type: 'integer', of: 'inactive', where: 'coalesce(inactive, 0) + 0 = ?' },
];
const DATE: Filter = { type: 'date', of: 'creation_date', where: 'creation_date = ?' };
const DAY: Filter = { ...DATE, where: 'coalesce(creation_date, creation_date) = ?' };
const INSTANT: Filter = { type: 'timestamp', of: '_changed_at', where: '_changed_at >= ?' };
const MOMENT: Filter = { ...INSTANT, where: 'coalesce(_changed_at, _first_seen_at) >= ?' };
const FLAG: Filter = { type: 'flag', of: 'inactive', where: 'inactive = ?' };
const EXPRESSION: Filter = { type: 'decimal', of: 'credit_exact', where: 'credit + 0 = ?' };
const CAST: Filter = { ...EXPRESSION, where: 'credit + 0 = cast(? as real)' }; // What the pages say for SQLite.

const PLACES = ['creation_date', '_changed_at', 'credit_exact', 'credit_e4', 'code', 'inactive'];

describe.each([
  ['jdbc', 'SQLite', 'SQLite', [...COMPARED, FLAG, DATE, DAY, CAST]],
  ['jdbc', 'SQLite, for instants', 'SQLite', [...COMPARED, FLAG, INSTANT, MOMENT, CAST]],
  ['odbc', 'SQLite', 'SQLite', [...COMPARED, FLAG, DATE, DAY, INSTANT, MOMENT, CAST]],
  ['jdbc', 'PostgreSQL', 'PostgreSQL', [...COMPARED, DATE, DAY, INSTANT, MOMENT, EXPRESSION]],
  ['odbc', 'PostgreSQL', 'PostgreSQL', [...COMPARED, DATE, DAY, INSTANT, MOMENT, EXPRESSION]],
] as const)('%s, by the address for %s', (page, section, database, filters) => {
  const ask: Ask = page === 'jdbc' ? askJava : askPython;

  test('finds by a parameter what is there', async () => {
    const [row = []] = await askMirror(
      stage,
      database,
      `select ${PLACES.join(', ')} from bi_clients
      where creation_date is not null and credit <> 0 and code <> '' order by id limit 1`,
    );
    const valueOf = ({ of }: Filter): string => (row[PLACES.indexOf(of)] ?? '').replace(/\+00$/, '');
    const questions = filters.map(
      (filter) =>
        `?${filter.type}|${valueOf(filter)}|select count(*) as n from bi_clients where ${filter.where}`,
    );

    const { answers } = await ask(stage, { page, section }, questions);

    const literal = (filter: Filter): string =>
      ['decimal', 'float', 'integer', 'flag'].includes(filter.type)
        ? valueOf(filter)
        : `'${valueOf(filter)}'`;
    for (const [at, filter] of filters.entries()) {
      const where = filter.where.replace('cast(? as real)', '?').replace('?', literal(filter));
      const expected = await askMirror(stage, database, `select count(*) from bi_clients where ${where}`);
      expect(Number(expected[0]?.[0])).toBeGreaterThan(0);
      expect(answers[at], filter.where).toMatchObject({ rows: [[expected[0]?.[0]]] });
    }
  });
});

test.each([
  ['jdbc', 'select * from bi_clients'],
  ['odbc', 'select * from bi_clients where id > ?'],
] as const)(
  '%s on PostgreSQL: a prepared `select *` fails once after a column has come',
  async (page, question) => {
    const ask: Ask = page === 'jdbc' ? askJava : askPython;

    stage.world.update('clients', stage.world.ids('clients')[0] ?? 0, { [`of_${page}`]: 'x' });

    const pull = `${process.execPath} ${MAIN} pull`;
    const { answers } = await ask(stage, { page, section: 'PostgreSQL' }, [`~${pull}|${question}`]);

    const refused: unknown = expect.stringContaining('cached plan must not change result type');
    expect(answers).toMatchObject([{ rows: [[refused], ['read']] }]);
  },
);

test.each([
  ['500', '0.0500'],
  ['-12', '-0.0012'],
  ['0', '0.0000'],
  ['123456789012345678', '12345678901234.5678'],
])('the page of R prints %s units as %s', (units, printed) => {
  const [read = ''] = codeOf('r', 'r', ['Read']).split('\n\n').slice(1);
  const lines = read.split('\n').slice(1);
  const { stdout } = spawnSync('Rscript', ['-e', [`units <- "${units}"`, ...lines].join('\n')], {
    encoding: 'utf8',
  });
  expect(stdout.trim()).toBe(printed);
});
