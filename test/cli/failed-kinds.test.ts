import { describe, expect, test } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { describeOutcome } from '../../src/words/outcome-texts.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { json, kindIn, run, settingsFor, type Ended } from '../support/command-line.ts';
import { ask, expectEmpty } from '../support/mirror-file.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

/** The default of `source.concurrency`. */
const SIDE_BY_SIDE = 4;

describe('a service that gives nothing at all fails the pull with 1', () => {
  test('a wrong token: one request a kind, no retries, nothing landed (A22)', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = await grownMirror();

    const ended = await run(['pull', '--json'], {
      ...settingsFor(sandbox, path),
      BMS_TOKEN: canary('-wrong'),
    });

    expect(ended.code).toBe(1);
    for (const report of json(ended).kinds) {
      expect(report).toMatchObject({
        state: 'aborted',
        reason: 'unauthorized',
        rows: 0,
        requests: 1,
        retries: 0,
      });
      expect(report.detail).toMatch(
        /^GET \/api\/\w+ page 1: got status 401.*bms-sync doctor names the setting/,
      );
    }
    expectEmpty(path);
  });

  test('a web site in place of the service lands nothing (B02)', async () => {
    await using sandbox = await startSandbox({ size: 10, faults: [{ do: { html: true } }] });
    const path = await grownMirror();

    const ended = await run(['pull', '--json'], settingsFor(sandbox, path));

    expect(ended.code).not.toBe(0);
    const { kinds } = json(ended);
    for (const kind of kinds) expect(kind).toMatchObject({ state: 'invalid', reason: 'html' });
    // Only the kinds that are read first try again: nobody waits ten times for what is not a service.
    expect(kinds.filter(({ retries }) => retries > 0).length).toBeLessThanOrEqual(SIDE_BY_SIDE);
    expectEmpty(path);
  });
});

/** One kind that is read before the clients, and one that is read after them. */
const BESIDE_CLIENTS = ['projects', 'clients', 'departments'];
const TWO_TRIES = { BMS__SOURCE__MAX_ATTEMPTS: '2' }; // The waits are real.

describe('one kind that fails leaves the others whole, and the pull ends with 3', () => {
  test.each<[string, Fault['do'], { state: string; reason: string; detail: RegExp }]>([
    [
      'a web page with status 200 (B02)',
      { html: true },
      { state: 'invalid', reason: 'html', detail: /web page.*baseUrl/ },
    ],
    [
      'a 403 (A22)',
      { refuse: true },
      { state: 'aborted', reason: 'forbidden', detail: /status 403.*may not read/ },
    ],
  ])('%s', async (_name, action, { detail, ...outcome }) => {
    await using sandbox = await startSandbox({
      size: 110,
      faults: [{ on: { kind: 'clients' }, do: action }],
    });
    const path = await grownMirror();

    const ended = await run(['pull', ...BESIDE_CLIENTS, '--json'], {
      ...settingsFor(sandbox, path),
      ...TWO_TRIES,
    });

    expect(ended.code).toBe(3);
    expect(kindIn(ended, 'clients')).toMatchObject(outcome);
    expect(kindIn(ended, 'clients').detail).toMatch(detail);
    expectOthersCertified(ended);
    expectOnlyTruth(path, sandbox.world.ids('clients'));
    const text = await run(['status'], settingsFor(sandbox, path));
    const { why } = describeOutcome({ ...outcome, isFirst: true, rows: 0, missing: null });
    expect(text.stdout.toLowerCase()).toContain(
      `needs you: the list of clients was not read to its end. ${why ?? ''}.`,
    );
    expect(text.stdout).not.toContain(outcome.reason.includes('_') ? outcome.reason : `: ${outcome.reason}`);
  });
});

function expectOthersCertified(ended: Ended): void {
  const others = json(ended).kinds.filter(({ kind }) => kind !== 'clients');
  expect(others.map(({ kind }) => kind)).toEqual(BESIDE_CLIENTS.filter((kind) => kind !== 'clients'));
  for (const { kind, state } of others) expect([kind, state]).toEqual([kind, 'certified']);
}

function expectOnlyTruth(path: string, ids: readonly number[]): void {
  const known = new Set(ids.map(BigInt));
  for (const { id } of ask(path, 'select id from clients')) expect(known.has(id as bigint)).toBe(true);
  expect(ask(path, 'select id from clients where _deleted_at is not null')).toEqual([]);
}
