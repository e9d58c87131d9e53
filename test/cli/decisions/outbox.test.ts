import { hostname, userInfo } from 'node:os';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { closeAttempt, openAttempt } from '../../../src/store/outbox/attempts-and-links.ts';
import { saveBlock } from '../../../src/store/outbox/outbox-queue.ts';
import { changeEntry, type EntryPatch } from '../../../src/store/outbox/outbox-store.ts';
import type { Session, Transaction } from '../../../src/db/session/session.ts';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';
import { saveHeartbeat } from '../../../src/store/runs/worker-store.ts';
import { freeze } from '../../../src/store/outbox/freeze-store.ts';
import { VERDICTS, explain } from '../../../src/words/verdicts.ts';
import { NOON, NOON_JSON, NOON_TEXT, NOON_PRINTED, later, putRecords } from '../../store/temp-mirror.ts';
import { document, run, type Env } from '../../support/command-line.ts';
import { ask } from '../../support/mirror-file.ts';
import { grownMirror } from '../../support/sqlite-templates.ts';

interface Made {
  readonly path: string;
  readonly env: Env;
}

/** A mirror with as many creates of clients as there are patches, each in the state that a sender would have left. */
async function outboxOf(...patches: readonly EntryPatch[]): Promise<Made> {
  const path = await grownMirror();
  const env = { DATABASE_URL: `file:${path}` };
  for (const [index] of patches.entries())
    await run(
      [
        'push',
        'create',
        'clients',
        '--key',
        `k${index + 1}`,
        '--data',
        `{"code":"C-${index + 1}","credit":1.50}`,
      ],
      env,
    );
  await within(path, async (session) => {
    for (const [index, patch] of patches.entries())
      await session.atomically((tx) => changeEntry(tx, { id: index + 1, epoch: 0, patch, now: NOON }));
  });
  return { path, env };
}

async function within(path: string, work: (session: Session) => Promise<unknown>): Promise<void> {
  await using session = openSqliteSession(path);
  await work(session);
}

const write = (path: string, work: (tx: Transaction) => Promise<unknown>): Promise<void> =>
  within(path, (session) => session.atomically(work));

interface Listed {
  readonly entries: readonly { readonly id: number; readonly state: string }[];
}

const idsIn = async (env: Env, ...argv: readonly string[]): Promise<number[]> =>
  (document(await run(['outbox', ...argv, '--json'], env)) as Listed).entries.map(({ id }) => id);

const ALL: readonly EntryPatch[] = [
  { state: 'ready' },
  { state: 'done', recordId: '501', verdict: 'sent' },
  {
    state: 'parked',
    verdict: 'twins',
    result: '{"ids":["501","502"]}',
    settlement: { ids: ['501', '502'] },
    attempts: 1,
  },
  { state: 'unsettled', verdict: 'looking', nextAttemptAt: NOON_TEXT },
  { state: 'rejected', verdict: 'invalid' },
  { state: 'abandoned' },
  { state: 'sending' },
  { state: 'parked', verdict: 'no_certificate' },
];

describe('outbox list', () => {
  test('without a limit shows fifty, and says on stderr that more follow', async () => {
    const { env } = await outboxOf(...Array.from({ length: 51 }, () => ({})));
    const listed = await run(['outbox', '--json'], env);
    expect(listed.stderr).toBe('… 50 of 51: --limit N\n');
    expect((document(listed) as { entries: unknown[] }).entries).toHaveLength(50);
    expect(await run(['outbox', '--limit', '51'], env)).toMatchObject({ code: 0, stderr: '' });
  });

  test('shows what is open, parked or rejected: what needs a person first, then the newest', async () => {
    const { env } = await outboxOf(...ALL);
    expect(await idsIn(env)).toEqual([8, 3, 5, 4, 7, 1]);
    expect(await idsIn(env, 'list')).toEqual([8, 3, 5, 4, 7, 1]);
    expect(await idsIn(env, 'list', '--all')).toEqual([8, 3, 5, 4, 7, 1, 2, 6]);
    expect(await idsIn(env, 'list', '--state', 'all')).toEqual([8, 3, 5, 4, 7, 1, 2, 6]);
    expect(await idsIn(env, 'list', '--state', 'done')).toEqual([2]);
    expect(await idsIn(env, 'list', '--limit', '2')).toEqual([8, 3]);
    expect(await idsIn(env, 'list', '--limit', '0')).toEqual([]);
  });

  test('tells of each entry what it is and where it stands, to a program and to a person', async () => {
    const { env } = await outboxOf(...ALL);
    const asJson = await run(['outbox', '--json'], env);
    expect(asJson).toMatchObject({ code: 0, stderr: '' });
    const { entries, blockedKinds, frozen } = document(asJson) as { entries: object[] } & Record<
      string,
      unknown
    >;
    expect(entries[1]).toEqual({
      id: 3,
      key: 'k3',
      kind: 'clients',
      operation: 'create',
      recordId: null,
      state: 'parked',
      verdict: 'twins',
      meaning: VERDICTS.twins,
      attempts: 1,
      nextAttemptAt: null,
      createdAt: expect.any(String) as string,
      updatedAt: NOON_JSON,
      pushedBy: `${userInfo().username}@${hostname()}`,
      payload: { code: 'C-3', credit: 1.5 },
      result: { ids: ['501', '502'] },
    });
    expect({ blockedKinds, frozen }).toEqual({ blockedKinds: [], frozen: null });
    expect(asJson.stdout).toContain('"credit":1.50');

    const { code, stdout, stderr } = await run(['outbox'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^entry +state +verdict +operation +kind +record +tries +next step \(UTC\) +not resent before \(UTC\) +payload\n/,
    );
    expect(stdout).toMatch(/\n +3 +parked +twins +create +clients +1 +\{"code":"C-3","credit":1\.50\}\n/);
    expect(stdout).toContain('To see what to do: bms-sync outbox show ENTRY');
  });

  test('of nothing says so', async () => {
    const { env } = await outboxOf();
    expect(await run(['outbox'], env)).toEqual({ code: 0, stdout: 'No entries.\n', stderr: '' });
  });

  test('of ended entries only counts them, and names the option that lists them', async () => {
    const { env } = await outboxOf({ state: 'done' }, { state: 'abandoned' }, { state: 'done' });
    expect((await run(['outbox'], env)).stdout).toBe('No open entries (2 done, 1 abandoned: --all)\n');
    expect((await run(['outbox', '--state', 'parked'], env)).stdout).toBe('No entries.\n');
    expect((await run(['outbox', '--help'], env)).stdout).toMatch(/--all .*--state .*--limit /s);
  });

  test('and status tell what stops all sends', async () => {
    const { path, env } = await outboxOf(...ALL);
    await write(path, async (tx) => {
      await freeze(tx, 'restored from a back-up', NOON);
      await saveBlock(tx, { kind: 'punches', reason: 'status 403', now: NOON, probeAt: later(300_000) });
    });
    const { stdout } = await run(['outbox'], env);
    expect(stdout).toContain(`Sends are paused since ${NOON_PRINTED}: restored from a back-up.`);
    expect(stdout).toContain('Writes of punches are refused (status 403)');
    expect(document(await run(['status', '--json'], env))).toMatchObject({
      outbox: { ready: 1, sending: 1, unsettled: 1, parked: 2, rejected: 1, done: 1, abandoned: 1 },
      blockedKinds: [{ kind: 'punches', reason: 'status 403', since: NOON_JSON }],
      frozen: { reason: 'restored from a back-up', since: NOON_JSON },
    });
    const status = (await run(['status'], env)).stdout;
    expect(status.split('\n').filter((line) => line.startsWith('Needs you: '))).toEqual([
      `Needs you: Sends are paused. Restored from a back-up. Since ${NOON_PRINTED}. (bms-sync outbox resume)`,
      `Needs you: Writes of punches are refused. The user of this token lacks the right in the service (status 403). Since ${NOON_PRINTED}. (bms-sync outbox)`,
      expect.stringMatching(/^Needs you: Entry \d+ is parked: .*\(bms-sync outbox show \d+\)$/),
      expect.stringMatching(/^Needs you: Entry \d+ is parked: /),
    ]);
    expect(status).toContain(
      '\nOutbox: 1 ready, 1 sending, 1 unsettled, 2 parked, 1 rejected, 1 done, 1 abandoned\n',
    );
  });
});

describe('while no process sends', () => {
  const words = VERDICTS.writes_off;
  const serve = (path: string, ...roles: readonly string[]) =>
    within(path, (session) => saveHeartbeat(session, { owner: 'elsewhere:1:a', roles }));

  test('what is due says so everywhere, beside a process that only pulls as well', async () => {
    const looking = { state: 'unsettled', verdict: 'looking' } as const;
    const waiting = [{}, { verdict: 'waits' }];
    const { path, env } = await outboxOf(...waiting, { state: 'done' }, { state: 'parked' }, looking);
    const meaning = expect.stringMatching(/[.] Nothing is sent: no bms-sync serve is running/) as string;
    for (const roles of [[], ['pulls', 'http']]) {
      if (roles.length > 0) await serve(path, ...roles);
      expect(document(await run(['outbox', '--json'], env))).toMatchObject({
        entries: [
          { id: 4 },
          { id: 5, verdict: 'looking', meaning },
          { id: 2, verdict: 'waits', meaning },
          { id: 1, state: 'ready', verdict: 'writes_off', meaning: words },
        ],
      });
      expect((await run(['outbox'], env)).stdout).toContain(`\n${words}\n`);
      expect((await run(['outbox', 'show', '1'], env)).stdout).toContain(`ready (writes_off): ${words}`);
      const need = `Needs you: 2 entries wait to be sent. ${words} Stop bms-sync serve if it is running, then start it with BMS_WRITES=on. (BMS_WRITES=on bms-sync serve)`;
      expect((await run(['status'], env)).stdout.split('\n')).toContain(need);
      expect(document(await run(['status', '--json'], env))).toMatchObject({ isSending: false });
    }
    const retried = document(await run(['outbox', 'retry', '4', '--json'], env));
    expect(retried).toMatchObject({ id: 4, state: 'ready', verdict: 'writes_off' });
    expect(ask(path, 'select verdict from outbox where id = 1')).toEqual([{ verdict: null }]);
  });

  test('is over once one does', async () => {
    const { path, env } = await outboxOf({});
    await serve(path, 'outbound');
    expect(document(await run(['outbox', 'show', '1', '--json'], env))).toMatchObject({ verdict: null });
    expect(document(await run(['status', '--json'], env))).toMatchObject({ isSending: true });
    for (const command of ['outbox', 'status'])
      expect((await run([command], env)).stdout).not.toContain(words);
  });
});

describe('outbox show', () => {
  test('tells the whole history of an entry, and what to do', async () => {
    const { path, env } = await outboxOf(...ALL);
    await write(path, async (tx) => {
      const request = 'POST /api/clients\n{"code":"C-3"}';
      await openAttempt(tx, { outboxId: 3, n: 1, request, now: NOON });
      await closeAttempt(tx, {
        outboxId: 3,
        n: 1,
        grade: 'ambiguous',
        status: 500,
        responseStart: '<h1>\u001b[31mOops\n</h1>',
        now: later(1000),
      });
      await openAttempt(tx, { outboxId: 3, n: 2, request, now: later(2000) });
    });
    const shown = document(await run(['outbox', 'show', '3', '--json'], env));
    expect(shown).toMatchObject({
      id: 3,
      state: 'parked',
      verdict: 'twins',
      isMaker: false,
      base: null,
      owner: null,
      preimage: null,
      next: [
        expect.stringContaining('outbox adopt 3 RECORD'),
        expect.stringContaining('retry 3'),
        expect.stringContaining('abandon 3'),
      ],
      history: [
        { n: 1, openedAt: NOON_JSON, closedAt: '2026-03-01T12:00:01.000Z', grade: 'ambiguous', status: 500 },
        { n: 2, closedAt: null, grade: null, status: null, responseStart: null },
      ],
    });
    const { code, stdout, stderr } = await run(['outbox', 'show', '3'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Entry 3: create clients\. Key: k3\nparked \(twins\): More than one record/);
    expect(stdout).toContain('\n  To send it again: bms-sync outbox retry 3\n');
    expect(stdout).toContain('\ncandidates: 501, 502\n');
    expect(stdout).toContain(
      `\nAttempt 1, ${NOON_PRINTED}: ambiguous at 2026-03-01 12:00:01 UTC, status 500\n`,
    );
    expect(stdout).toContain('\n  POST /api/clients\n  {"code":"C-3"}\n  → <h1>\ufffd[31mOops\ufffd</h1>\n');
    expect(stdout).toMatch(/\nAttempt 2, .*: not answered yet\n/);
  });

  test('shows the fields of a conflict side by side', async () => {
    const conflicts = [{ field: 'name', base: 'Ada', remote: 'Bea', wanted: 'Zoé' }];
    const result = JSON.stringify({ conflicts });
    const { env } = await outboxOf({ state: 'parked', verdict: 'conflict', result });
    const { stdout } = await run(['outbox', 'show', '1'], env);
    expect(stdout).toMatch(/\nfield +base +remote +wanted\n.*\nname +Ada +Bea +Zoé\n/);
    expect(stdout).toMatch(/To send yours .*retry 1 --overwrite\n.*To keep the other .*abandon 1\n/);
  });

  test('of a create with unknown outcome names the record that the mirror shows by now, in every list', async () => {
    const made = (code: string) => ({ code, _raw: JSON.stringify({ code, credit: 2 }) });
    const preimage = JSON.stringify({ tick: 0, at: '2026-03-01 11:00:00.000', seq: null });
    const { path, env } = await outboxOf(
      {
        state: 'unsettled',
        verdict: 'looking',
        preimage,
        nextAttemptAt: NOON_TEXT,
        settlement: { resendAt: '2026-03-02 12:00:00.000' },
      },
      { state: 'unsettled', verdict: 'ambiguous', preimage, nextAttemptAt: NOON_TEXT },
      { state: 'unsettled', verdict: 'retry', preimage, settlement: { ids: ['503'] } },
    );
    expect((await run(['outbox', 'show', '1'], env)).stdout).toContain('unsettled (looking): ');
    await write(path, (tx) =>
      putRecords(tx, 'clients', [
        { id: '501', ...made('C-1') },
        { id: '502', ...made('X-9') },
        { id: '503', ...made('C-3') },
      ]),
    );
    const { stdout } = await run(['outbox', 'show', '1'], env);
    expect(stdout).toContain('may be it (501), which adopting it confirms. Last looked for or sent at ');
    expect(stdout).toContain('If a record of the mirror is it: bms-sync outbox adopt 1 501\n');
    expect(stdout).toContain(`\nnext look: ${NOON_PRINTED}\n`);
    expect((await run(['outbox'], env)).stdout).toMatch(/12:00:00Z +2026-03-02 12:00:00Z/);
    expect(stdout).toMatch(/\ncode +C-1 +C-1\n/);
    expect(document(await run(['outbox', '--json'], env))).toMatchObject({
      entries: [
        { id: 3, verdict: 'retry' },
        { id: 2, verdict: 'ambiguous' },
        { id: 1, verdict: 'found', meaning: expect.stringContaining('may be it (501)') as string },
      ],
    });
    expect(document(await run(['outbox', 'show', '2', '--json'], env))).toMatchObject({
      candidates: [],
      next: expect.arrayContaining([
        'If a record of the mirror is it: bms-sync outbox adopt 2 RECORD',
      ]) as string[],
    });
  });

  test('of one that is being sent, or was abandoned, has no verdict of the time before', async () => {
    const { env } = await outboxOf(
      { state: 'sending', verdict: 'awaits_sweep' },
      { state: 'abandoned', verdict: 'twins' },
    );
    expect((await run(['outbox', 'show', '1'], env)).stdout).toContain('\nsending: It is being sent.\n');
    expect((await run(['outbox', 'show', '2'], env)).stdout).toContain('\nabandoned: A user abandoned it');
  });

  test('shows what an application has stored that is no JSON', async () => {
    const { path, env } = await outboxOf({});
    await write(path, (tx) => tx.query(sql`update outbox set payload = '{oops', kind = 'klients'`));
    expect(document(await run(['outbox', 'show', '1', '--json'], env))).toMatchObject({ payload: '{oops' });
    expect((await run(['outbox', 'show', '1'], env)).stdout).toContain('\npayload: {oops\n');
  });

  test('finds an entry by its key; digits are a number first', async () => {
    const { path, env } = await outboxOf({}, {}, {});
    await write(path, (tx) => tx.query(sql`update outbox set idempotency_key = '77' where id = 2`));
    await write(path, (tx) => tx.query(sql`update outbox set idempotency_key = '1' where id = 3`));
    expect(document(await run(['outbox', 'show', 'k1', '--json'], env))).toMatchObject({ id: 1, key: 'k1' });
    expect(document(await run(['outbox', 'show', '77', '--json'], env))).toMatchObject({ id: 2 });
    expect(document(await run(['outbox', 'show', '1', '--json'], env))).toMatchObject({ id: 1 });
    expect((await run(['outbox', 'show', 'k9'], env)).stderr).toContain('Entry k9 is not in the outbox.');
  });

  test('of an entry that there is not fails with 1', async () => {
    const { env } = await outboxOf();
    const ended = await run(['outbox', 'show', '9', '--json'], env);
    expect(ended.code).toBe(1);
    expect(document(ended)).toMatchObject({
      error: { code: 'outbox.absent', message: 'Entry 9 is not in the outbox.' },
    });
  });
});

describe('a decision on an entry', () => {
  test('retry makes it go on', async () => {
    const { env } = await outboxOf(
      { state: 'rejected', verdict: 'invalid' },
      { state: 'parked', verdict: 'gone' },
    );
    expect(document(await run(['outbox', 'retry', '1', '--json'], env))).toMatchObject({
      id: 1,
      state: 'ready',
      verdict: 'writes_off',
      warning: null,
    });
    expect(await run(['outbox', 'retry', '2'], env)).toEqual({
      code: 0,
      stdout: `The retry is noted.\n${VERDICTS.writes_off}\n`,
      stderr: '',
    });
  });

  test('retry and abandon take several entries: all are decided, or none', async () => {
    const { path, env } = await outboxOf(
      { state: 'parked', verdict: 'gone' },
      { state: 'done' },
      { state: 'rejected' },
    );
    const refused = await run(['outbox', 'retry', '1', '2', '3', '99'], env);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /None of the 4 entries was decided\. 2: Entry 2 is done: .* 99: Entry 99 is not in the outbox\./,
    );
    expect(await run(['outbox', 'abandon', 'x', '1'], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('x: Entry x is not in the outbox.') as string,
    });
    expect(await idsIn(env, '--state', 'ready')).toEqual([]);
    expect(ask(path, `select id from decisions where what = 'outbox retry'`)).toEqual([]);
    expect(await run(['outbox', 'retry', '1', '3', '1'], env)).toEqual({
      code: 0,
      stdout: [1, 3]
        .flatMap((id) => ['The retry is noted.', VERDICTS.writes_off].map((it) => `Entry ${id}: ${it}\n`))
        .join(''),
      stderr: '',
    });
    expect(document(await run(['outbox', 'abandon', '3', '1', '--json'], env))).toMatchObject({
      entries: [
        { id: 3, state: 'abandoned', warning: null },
        { id: 1, state: 'abandoned' },
      ],
    });
    const decided = ask(path, 'select what, target from decisions order by id').slice(3);
    expect(decided.map(({ what, target }) => `${String(what)} ${String(target)}`)).toEqual([
      'outbox retry 1',
      'outbox retry 3',
      'outbox abandon 3',
      'outbox abandon 1',
    ]);
  });

  test('retry of a create with unknown outcome names what a person may want, and --now what it has done', async () => {
    const { env } = await outboxOf({ state: 'unsettled', verdict: 'looking' });
    const { stderr } = await run(['outbox', 'retry', '1'], env);
    expect(stderr).toMatch(/bms-sync outbox adopt 1 RECORD; .*bms-sync outbox retry 1 --now/);
    const { stdout } = await run(['outbox', 'retry', '1', '--now'], env);
    expect(stdout).toMatch(/sent again after a certified sweep .* not before outbound\.settleSeconds/);
  });

  test('retry of a create whose record exists makes a second one with --allow-double alone, as show says', async () => {
    const { path, env } = await outboxOf({
      state: 'parked',
      verdict: 'existed',
      settlement: { ids: ['503'] },
    });
    await write(path, (tx) => putRecords(tx, 'clients', [{ id: '503', code: 'C-1' }]));
    const shown = (await run(['outbox', 'show', '1'], env)).stdout;
    expect(shown).toContain('To make a second record all the same: bms-sync outbox retry 1 --allow-double');
    expect(shown).not.toContain('To send it again');
    const refused = await run(['outbox', 'retry', '1'], env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/would make a second record of clients[^]*adopt 1 503; .*--allow-double/);
    expect(await run(['outbox', 'retry', '1', '--allow-double'], env)).toMatchObject({ code: 0 });
    expect(ask(path, 'select state, allow_double from outbox')).toEqual([
      { state: 'ready', allow_double: 1n },
    ]);
  });

  test('adopt gives it a record of the mirror', async () => {
    const { path, env } = await outboxOf({ state: 'parked', verdict: 'look_alike' });
    expect(document(await run(['outbox', 'adopt', '1', '501', '--json'], env))).toMatchObject({
      error: {
        code: 'outbox.no_record',
        hint: expect.stringContaining('backfill clients --ids 501') as string,
      },
    });
    await write(path, (tx) => putRecords(tx, 'clients', [{ id: '501' }]));
    expect(document(await run(['outbox', 'adopt', '1', '501', '--json'], env))).toMatchObject({
      state: 'done',
      verdict: 'adopted',
      recordId: '501',
    });
    expect(document(await run(['outbox', 'show', '1', '--json'], env))).toMatchObject({ isMaker: true });
    expect((await run(['outbox', 'show', '1'], env)).stdout).toContain('\nmade: record 501\n');
  });

  test('abandon gives it up, and warns where it may be at the service', async () => {
    const { path, env } = await outboxOf({}, { state: 'unsettled', verdict: 'looking' });
    await write(path, (tx) => openAttempt(tx, { outboxId: 2, n: 1, request: 'POST', now: NOON }));
    const { key } = document(await run(['outbox', 'show', '1', '--json'], env)) as { key: string };
    expect(await run(['outbox', 'abandon', key], env)).toEqual({
      code: 0,
      stdout: 'Nothing more is sent for the entry.\n',
      stderr: '',
    });
    expect((await run(['outbox', 'abandon', '2'], env)).stdout).toContain(
      'The service may still have the record',
    );
    expect(await idsIn(env)).toEqual([]);
  });

  test('resume lets sends go on, and says what had stopped them', async () => {
    const { path, env } = await outboxOf();
    const warning = `${VERDICTS.writes_off} (writes_off)`;
    expect(document(await run(['outbox', 'resume', '--json'], env))).toEqual({ wasFrozen: false, warning });
    expect((await run(['outbox', 'resume'], env)).stdout).toBe(`${warning}\nSends were not paused.\n`);
    const again = () => write(path, (tx) => freeze(tx, 'restored', NOON));
    writeFileSync(`${path}.sends`, '12\n');
    await again();
    expect(document(await run(['outbox', 'resume', '--json'], env))).toEqual({
      wasFrozen: true,
      reason: 'restored',
      since: NOON_JSON,
      warning,
    });
    await again();
    expect((await run(['outbox', 'resume'], env)).stdout).toContain('They were paused: restored.');
    expect(document(await run(['status', '--json'], env))).toMatchObject({ frozen: null });
    expect(ask(path, `select value from mirror_meta where key = 'outbox.sends'`)).toEqual([{ value: '12' }]);
  });

  test.each([
    ['retry', '1', 'outbox.wrong_state', 1],
    ['retry', '9', 'outbox.absent', 1],
    ['abandon', '2', 'outbox.wrong_state', 1],
    ['adopt 1', '5', 'outbox.wrong_state', 1],
    ['adopt 3', 'x', 'usage.input', 2],
  ])('%s %s that cannot be: %s, exit %i', async (words, argument, code, exit) => {
    const { env } = await outboxOf({}, { state: 'done' }, { state: 'parked' });
    const ended = await run(['outbox', ...words.split(' '), argument, '--json'], env);
    expect(ended.code).toBe(exit);
    expect(document(ended)).toMatchObject({ error: { code } });
  });

  test.each([['show', 'x', 'y'], ['show'], ['retry'], ['adopt', '1'], ['list', '--state', 'lost']])(
    'outbox %s %s is usage, exit 2',
    async (...argv) => {
      const { env } = await outboxOf();
      expect(await run(['outbox', ...argv], env)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

describe('every verdict', () => {
  const about = { id: 7, kind: 'clients', recordId: null, state: 'parked' } as const;

  test.each(Object.keys(VERDICTS))(
    '%s is told in a sentence, and names the entry in what to do',
    (verdict) => {
      const { meaning, next } = explain({ ...about, verdict });
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      for (const step of next) expect(step).not.toMatch(/undefined|null/);
    },
  );

  test('is in the table of docs/outbox.md, and nothing else is', () => {
    const doc = readFileSync(join(import.meta.dirname, '../../../docs/outbox.md'), 'utf8');
    const table = doc.slice(doc.indexOf('## Verdicts'), doc.indexOf('## Decisions'));
    const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, verdict]) => verdict);
    expect(documented.toSorted()).toEqual(Object.keys(VERDICTS).toSorted());
  });

  test('that a person meets only once the entry is parked asks for nothing before', () => {
    const ready = explain({ ...about, state: 'ready', verdict: 'no_answer' });
    expect(ready.meaning).toContain('the record is read before anything is sent again');
    expect(ready.next).toEqual([]);
    expect(explain({ ...about, verdict: 'no_answer' }).next).not.toEqual([]);
  });

  test('that is unknown, or none, is told by the state', () => {
    expect(explain({ ...about, verdict: 'something new' })).toEqual(explain({ ...about, verdict: null }));
    expect(explain({ ...about, verdict: null }).next).not.toEqual([]);
  });
});
