import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../../scripts/clients/pages.ts';
import { askJavaIn, askPython } from './ask.ts';
import type { Answer, Client, ClientAnswers } from './client.ts';
import { CLIENTS } from './clients.ts';
import { askMirror, inSnapshot, readMirrors, spelled, type MirrorView, type Row } from './mirrors.ts';
import { openStage, type Stage } from './stage.ts';
import {
  bookingsByMonth,
  catalogueReferences,
  joinedRows,
  sumsOf,
  type Relation,
  type Sums,
} from './truth.ts';

let stage: Stage;
let mirrors: Awaited<ReturnType<typeof readMirrors>>;

beforeAll(async () => {
  stage = await openStage();
  mirrors = await readMirrors(stage);
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Changes while it is read. */
const MOVING = 'lag_seconds';

describe.each(CLIENTS.map((client) => [`${client.name} on ${client.section}`, client] as const))(
  '%s',
  (_, client) => {
    let answers: ClientAnswers;
    let views: readonly MirrorView[];
    let sums: readonly Sums[];
    let relations: readonly Relation[];

    beforeAll(async () => {
      const all = mirrors[client.database];
      views = (client.snapshot === true ? inSnapshot(all) : all).filter(
        ({ name }) => client.unread?.includes(name) !== true,
      );
      sums = sumsOf(stage).filter(({ units }) => !isOfNothing(units)); // See docs/reporting/polars.md.
      relations = relationsIn(views);
      const reads = views.map(({ name }) => `select * from ${name}`);
      const questions = [...sums.map((one) => sumQuestion(one, client)), ...relations.map(joinQuestion)];
      answers = await client.ask(stage, client, [...reads, ...questions]);
    });

    test('reads every view', () => {
      const failed = views.flatMap(({ name }, at) => {
        const answer = answers.answers[at];
        return answer === undefined || 'error' in answer ? [{ name, error: answer?.error }] : [];
      });
      expect(failed).toEqual([]);
    });

    test('sees the type of every column', () => {
      const { types } = client;
      if (types === null) return;
      const odd = views.flatMap((view, at) =>
        columnsAt(answers, at).flatMap(([name, type], place) => {
          const sort =
            client.untyped?.includes(view.name) === true ? 'text' : (view.columns[place]?.sort ?? 'text');
          const isGuess = client.guesses === true && view.rows.every((row) => row[place] === null);
          return isGuess || types[sort].includes(type)
            ? []
            : [`${view.name}.${name}: ${type}, expected ${types[sort].join(' or ')}`];
        }),
      );
      expect(odd).toEqual([]);
    });

    test('gives every value of every view', () => {
      const odd = views.flatMap((view, at) => {
        const answer = answers.answers[at];
        return answer === undefined || 'error' in answer ? [] : firstDifference(view, answer, client);
      });
      expect(odd).toEqual([]);
    });

    test('sums exactly, by the data of the sandbox', () => {
      const odd = sums.flatMap(({ view, count, units }, at): unknown[] => {
        const answer = answers.answers[views.length + at];
        if (answer === undefined || 'error' in answer) return [`${view}: ${answer?.error ?? 'no answer'}`];
        const expected = [String(count), ...Object.values(units)];
        const got = answer.rows[0] ?? [];
        return JSON.stringify(got) === JSON.stringify(expected) ? [] : [{ view, expected, got }];
      });
      expect(odd).toEqual([]);
    });

    test('joins by bi_relations', () => {
      const odd = relations.flatMap((relation, at) => {
        const answer = answers.answers[views.length + sums.length + at];
        const got = answer === undefined || 'error' in answer ? answer?.error : answer.rows[0]?.[0];
        const expected = String(joinedRows(stage, relation));
        return got === expected ? [] : [{ ...relation, expected, got }];
      });
      expect(odd).toEqual([]);
    });

    if (!client.runs) return;

    test('prints what its page says', () => {
      const total = sums.find(({ view }) => view === 'bi_purchase_products')?.units['produit_total_e4'] ?? '';
      const [first, ...months] = answers.printed.trim().split('\n');
      expect(first).toMatch(new RegExp(`^${total.slice(0, -4)}\\.${total.slice(-4).replace(/0+$/, '')}0*$`));
      expect(months).toEqual(bookingsByMonth(stage.world));
    });
  },
);

test.each(['SQLite', 'PostgreSQL'] as const)(
  'the queries of Grafana and of the index run on %s',
  async (database) => {
    const questions = [
      ...blocksOf('grafana').filter(({ section }) => [database, 'On both'].includes(section)),
      ...blocksOf('README').filter(({ language }) => language === 'sql'),
    ];
    const answers = await Promise.all(questions.map(({ code }) => askMirror(stage, database, code)));
    expect(answers.map(({ length }) => length > 0)).toEqual([true, true, true]);
    const changes = mirrors[database].find(({ name }) => name === 'bi_changes')?.rows ?? [];
    expect(answers[0]?.reduce((sum, row) => sum + Number(row[1]), 0)).toBe(changes.length);
  },
);

test.each([
  ['SQLite, for instants', 'SQLite', true],
  ['PostgreSQL', 'PostgreSQL', false],
] as const)('a JVM of another zone moves the instants on %s: %s, %s', async (section, database, moves) => {
  const question = 'select observed_at from bi_changes where seq = 1';
  const answers = await askJavaIn('America/Montreal')(stage, { page: 'jdbc', section }, [question]);
  const [expected] = (await askMirror(stage, database, question))[0] ?? [];
  const [answer] = answers.answers;
  const got = answer !== undefined && 'rows' in answer ? answer.rows[0]?.[0] : null;
  const same = { integers: 'exact', decimals: 'exact' } as const;
  expect(got === spelled(expected ?? null, 'instant', same)).toBe(!moves);
});

test.each(['SQLite', 'PostgreSQL'])(
  'DuckDB copies the clients on %s into a Parquet file, cell by cell',
  async (section) => {
    const questions = ['bi_clients', "'clients.parquet'"].map((from) => `select * from ${from} order by id`);
    const { answers } = await askPython(stage, { page: 'duckdb', section }, questions);
    const [expected, copied] = answers;
    expect(expected).toHaveProperty('rows.length', stage.world.count('clients'));
    expect(copied).toEqual(expected);
  },
);

test('bi_relations has every reference of the catalogue', () => {
  const references = catalogueReferences(stage);
  for (const database of ['SQLite', 'PostgreSQL'] as const) {
    const known = relationsIn(mirrors[database]).map(({ view, column }) => `${view}.${column}`);
    expect(known).toEqual(expect.arrayContaining([...references]));
  }
});

const isOfNothing = (units: Sums['units']): boolean =>
  Object.keys(units).length > 0 && Object.values(units).every((sum) => sum === null);

function relationsIn(views: readonly MirrorView[]): readonly Relation[] {
  const rows = views.find(({ name }) => name === 'bi_relations')?.rows ?? [];
  return rows.map(([view = '', column = '', toView = '', toColumn = '']) => {
    return { view: view ?? '', column: column ?? '', toView: toView ?? '', toColumn: toColumn ?? '' };
  });
}

const joinQuestion = ({ view, column, toView, toColumn }: Relation): string =>
  `select count(*) as n from ${view} v join ${toView} w on w.${toColumn} = v.${column}`;

/** The columns of an answer; none where the client failed, which another test shows. */
function columnsAt(answers: ClientAnswers, at: number): Answer['columns'] {
  const answer = answers.answers[at];
  return answer === undefined || 'error' in answer ? [] : answer.columns;
}

/** The first row, in the order of their texts, in which a client differs from the mirror; none if it has the same rows. */
function firstDifference(view: MirrorView, answer: Answer, client: Client): readonly unknown[] {
  const linesOf = (rows: readonly Row[]): readonly string[] =>
    rows.map((row) => lineOf(row, view, client)).sort();
  const expected = linesOf(view.rows);
  const got = linesOf(answer.rows);
  const first = expected.findIndex((line, at) => line !== got[at]);
  if (first === -1 && expected.length === got.length) return [];
  return [
    { view: view.name, expected: expected[first], got: got[first], counts: [expected.length, got.length] },
  ];
}

function lineOf(row: Row, { columns }: MirrorView, { exactness, cannot = [] }: Client): string {
  const isLeftOut = ({ name, sort }: MirrorView['columns'][number]): boolean =>
    name === MOVING || cannot.includes(sort);
  return JSON.stringify(
    columns.map((column, at) => (isLeftOut(column) ? '' : spelled(row[at] ?? null, column.sort, exactness))),
  );
}

/** The sums of a view, as 64-bit integers, or as text where the client has none. */
function sumQuestion({ view, units }: Sums, { exactness }: Client): string {
  const type = exactness.integers === 'exact' ? 'bigint' : 'text';
  const sums = Object.keys(units).map((name) => `cast(sum(${name}) as ${type}) as ${name}`);
  return `select ${['count(*) as n', ...sums].join(', ')} from ${view}`;
}
