import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { at, putChanges } from '../events/support.ts';
import { run, type Ended, type Env } from '../support/command-line.ts';
import { MAIN, start } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';

interface Stored {
  readonly session: Session;
  readonly env: Env;
}

/** A mirror with 30 events of clients, 30 of products, and one of each kind after them. */
async function mirrorWithChanges(): Promise<Stored> {
  const path = await grownMirror();
  const session = openSqliteSession(path);
  onTestFinished(() => session.close());
  await putChanges(session, ...some(30, 'clients'), ...some(30, 'products'));
  await putChanges(session, ...KINDS.flatMap(({ name }) => some(1, name)));
  return { session, env: { DATABASE_URL: `file:${path}` } };
}

const some = (count: number, kind: string) =>
  Array.from({ length: count }, (_, index) => ({
    kind,
    record_id: String(index + 1),
    change: 'updated',
    observed_at: at('12:00'),
    before: '{"id":1,"credit":10.00}',
    after: '{"id":1,"credit":12.50}',
    fields: '{"credit":[10.00,12.50]}',
  }));

const ALL = 60 + KINDS.length;

/** The event of a kind among the last ones, one of each. */
const seqOf = (kind: string): number => 61 + KINDS.findIndex(({ name }) => name === kind);

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const linesOf = ({ stdout }: Pick<Ended, 'stdout'>): string[] => stdout.split('\n').slice(0, -1);

const seqsInJson = (ended: Ended): number[] =>
  linesOf(ended).map((line) => (JSON.parse(line) as { seq: number }).seq);

/** The first number of every line after the heading and its rule. */
const seqsInText = (ended: Ended): number[] =>
  linesOf(ended)
    .slice(2)
    .map((line) => Number.parseInt(line, 10));

describe('changes', () => {
  test.each<[string, readonly string[], readonly number[], string?]>([
    ['the latest fifty', [], range(ALL - 49, ALL), `50 of ${ALL}: --limit N`],
    ['the latest few', ['--limit', '3'], range(ALL - 2, ALL)],
    ['the latest few of a kind', ['--limit', '3', '--kind', 'clients'], [29, 30, 62]],
    [
      'the first fifty since a day',
      ['--since', '2026-03-01'],
      range(1, 50),
      `50 of ${ALL}: --limit N, or --after 50`,
    ],
    [
      'the first fifty after a seq',
      ['--after', '5'],
      range(6, 55),
      `50 of ${ALL - 5}: --limit N, or --after 55`,
    ],
    ['the first few after a seq', ['--after', '5', '--limit', '2'], [6, 7]],
    ['those of a kind after a seq', ['--after', '58', '--kind', 'products'], [59, 60, seqOf('products')]],
  ])('shows a person %s', async (_, argv, seqs, rest) => {
    const { env } = await mirrorWithChanges();
    const ended = await run(['changes', ...argv], env);
    const stderr = rest === undefined ? '' : `… ${rest}\n`;
    expect(ended).toMatchObject({ code: 0, stderr });
    expect(seqsInText(ended)).toEqual(seqs);
  });

  test.each<[string, readonly string[], readonly number[]]>([
    ['all', [], range(1, ALL)],
    ['all after a seq', ['--after', '60'], range(61, ALL)],
    ['the first few, so that it can go on from there', ['--limit', '3'], [1, 2, 3]],
    ['the first few after a seq', ['--after', '7', '--limit', '2'], [8, 9]],
    ['those of a kind', ['--kind', 'sales_products'], [seqOf('sales_products')]],
    ['none', ['--limit', '0'], []],
    ['none after the last', ['--after', '999999999999'], []],
  ])('gives a program %s', async (_, argv, seqs) => {
    const { env } = await mirrorWithChanges();
    const ended = await run(['changes', '--json', ...argv], env);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(seqsInJson(ended)).toEqual(seqs);
  });

  test('says to a person who, when, what, and which fields, and lets nothing steer the terminal', async () => {
    const { session, env } = await mirrorWithChanges();
    const long = JSON.stringify('x'.repeat(100));
    await putChanges(
      session,
      {
        kind: 'clients',
        record_id: '12',
        change: 'updated',
        observed_at: at('13:00'),
        fields: `{"nom":["a\u009b31m","\\u001b[31m\u202eb"],"credit":[null,12345678901234567890.10],"note":[${long},""]}`,
      },
      { record_id: '13', change: 'deleted', observed_at: at('14:00') },
      {
        record_id: '14',
        change: 'updated',
        observed_at: at('14:00'),
        fields: JSON.stringify(Object.fromEntries(range(1, 8).map((n) => [`f${n}`, [n, n + 1]]))),
      },
    );

    const { stdout } = await run(['changes', '--limit', '3'], env);

    expect(stdout.split('\n')).toEqual([
      '     seq  observed (UTC)        kind                   record  change    fields',
      '--------  --------------------  -----------------  ----------  --------  ------',
      `      ${ALL + 1}  2026-03-01 13:00:00Z  clients                    12  updated   ` +
        `nom: "a\ufffd31m" → "\\u001b[31m\ufffdb", credit: null → 12345678901234567890.10, note: "${'x'.repeat(38)}… → ""`,
      `      ${ALL + 2}  2026-03-01 14:00:00Z  clients                    13  deleted`,
      `      ${ALL + 3}  2026-03-01 14:00:00Z  clients                    14  updated   ` +
        'f1: 1 → 2, f2: 2 → 3, f3: 3 → 4, f4: 4 → 5, f5: 5 → 6, and 3 more',
      '',
    ]);
    // What is copied from the table means the same instant, whatever the zone of the schedules.
    const [copied = ''] = /2026-03-01 14:00:00\S*/.exec(stdout) ?? [];
    const inToronto = { ...env, BMS__SCHEDULES__TIMEZONE: 'America/Toronto' };
    expect(seqsInText(await run(['changes', '--since', copied], inToronto))).toEqual([ALL + 2, ALL + 3]);
  });

  test('say of an update why it has no fields, and of no other event', async () => {
    const { session, env } = await mirrorWithChanges();
    const bare = { kind: 'clients', record_id: '12', observed_at: at('13:00'), fields: '{}' };
    await putChanges(session, { ...bare, change: 'updated' }, { ...bare, change: 'deleted' });
    const { stdout } = await run(['changes', '--limit', '2'], env);
    expect(stdout).toMatch(/ updated +privacy\.exclude has removed what changed\n.* deleted\n$/);
  });

  test('of a mirror without any says so to a person, and nothing to a program', async () => {
    const env = { DATABASE_URL: `file:${freshMirror()}` };
    await run(['migrate'], env);
    expect(await run(['changes'], env)).toEqual({ code: 0, stdout: 'No change events.\n', stderr: '' });
    expect(await run(['changes', '--json'], env)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('that was stopped before the end tells so by its exit code', async () => {
    const { env } = await mirrorWithChanges();
    expect(await run(['changes', '--json'], env, AbortSignal.abort())).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('changes --follow', () => {
  test('begins with what comes next, tells it at once, and Ctrl-C ends it with 0', async () => {
    const { session, env } = await mirrorWithChanges();
    const { child, ended } = start(['changes', '--follow', '--json', '--kind', 'clients'], { env });
    if (child.stdout === null) throw new Error('no pipe');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    // It prints nothing at its start: new events come until it has seen one.
    const stop = new AbortController();
    const putting = (async () => {
      while (!stop.signal.aborted) {
        await putChanges(session, ...some(1, 'clients'), ...some(1, 'products'));
        await systemClock.sleep(20);
      }
    })();
    const { seq } = JSON.parse(String((await lines.next()).value)) as { seq: number };
    stop.abort();
    await putting;

    expect(seq).toBeGreaterThan(ALL);
    child.kill('SIGINT');
    const result = await ended;
    expect(result).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(seqsInJson(result)).toEqual(range(0, linesOf(result).length - 1).map((n) => seq + 2 * n));
  });
});

test.each(['', ' --json', ' --follow --after 0 --json'])(
  'changes%s ends in silence once nobody reads it any more: `| head`',
  async (options) => {
    const { session, env } = await mirrorWithChanges();
    await putChanges(session, ...some(5_000, 'clients'));
    const wide = `"${process.execPath}" "${MAIN}" changes${options}${options === '' ? ' --limit 9999' : ''}`;
    const { stdout, stderr } = await promisify(execFile)(
      'sh',
      ['-c', `{ ${wide}; echo "ended with $?" >&2; } | head -n 3`],
      { env: { PATH: process.env['PATH'], ...env } },
    );
    expect(stdout.split('\n')).toHaveLength(4);
    expect(stderr).toBe('ended with 0\n');
  },
);
