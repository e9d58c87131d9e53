import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { codeOf } from '../../scripts/clients/pages.ts';
import { askJava, askPython } from './ask.ts';
import type { Ask } from './client.ts';
import { askMirror } from './mirrors.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage(inject('postgresUrl'));
}, 120_000);
afterAll(() => stage[Symbol.asyncDispose]());

interface Filter {
  readonly type: 'date' | 'timestamp' | 'decimal' | 'integer' | 'text';
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
];
const DATE: Filter = { type: 'date', of: 'creation_date', where: 'creation_date = ?' };
const INSTANT: Filter = { type: 'timestamp', of: '_changed_at', where: '_changed_at >= ?' };
const EXPRESSION: Filter = { type: 'decimal', of: 'credit_exact', where: 'credit + 0 = ?' };
const CAST: Filter = { ...EXPRESSION, where: 'credit + 0 = cast(? as real)' }; // What the pages say for SQLite.

describe.each([
  ['jdbc', 'SQLite', 'SQLite', [...COMPARED, DATE, CAST]],
  ['jdbc', 'SQLite, for instants', 'SQLite', [...COMPARED, INSTANT, CAST]],
  ['odbc', 'SQLite', 'SQLite', [...COMPARED, DATE, INSTANT, CAST]],
  ['jdbc', 'PostgreSQL', 'PostgreSQL', [...COMPARED, DATE, INSTANT, EXPRESSION]],
  ['odbc', 'PostgreSQL', 'PostgreSQL', [...COMPARED, DATE, INSTANT, EXPRESSION]],
] as const)('%s, by the address for %s', (page, section, database, filters) => {
  const ask: Ask = page === 'jdbc' ? askJava : askPython;

  test('finds by a parameter what is there', async () => {
    const [row = []] = await askMirror(
      stage,
      database,
      `select creation_date, _changed_at, credit_exact, credit_e4, code from bi_clients
      where creation_date is not null and credit <> 0 and code <> '' order by id limit 1`,
    );
    const places = ['creation_date', '_changed_at', 'credit_exact', 'credit_e4', 'code'];
    const valueOf = ({ of }: Filter): string => (row[places.indexOf(of)] ?? '').replace(/\+00$/, '');
    const questions = filters.map(
      (filter) =>
        `?${filter.type}|${valueOf(filter)}|select count(*) as n from bi_clients where ${filter.where}`,
    );

    const { answers } = await ask(stage, { page, section }, questions);

    const literal = (filter: Filter): string =>
      ['decimal', 'integer'].includes(filter.type) ? valueOf(filter) : `'${valueOf(filter)}'`;
    for (const [at, filter] of filters.entries()) {
      const where = filter.where.replace('cast(? as real)', '?').replace('?', literal(filter));
      const expected = await askMirror(stage, database, `select count(*) from bi_clients where ${where}`);
      expect(Number(expected[0]?.[0])).toBeGreaterThan(0);
      expect(answers[at], filter.where).toMatchObject({ rows: [[expected[0]?.[0]]] });
    }
  }, 300_000);
});

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
