import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/lib/time/clock.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { changeEntry, type EntryPatch } from '../../src/store/outbox/outbox-store.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { VERDICTS } from '../../src/words/verdicts.ts';
import { putRecords } from '../store/temp-mirror.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { ask } from '../support/mirror-file.ts';
import { MAIN } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';

const RAW = '{"id":17,"code":"C-17","name":"Bea","credit":"10.10","adresse2":""}';
const UNSENT = `${VERDICTS.writes_off} (writes_off)`;
const QUEUED = `Queued. ${UNSENT}\n`;

/** A mirror with one client, never pulled; nobody sends what is pushed into it. */
async function mirror() {
  const path = await grownMirror();
  const env = { DATABASE_URL: `file:${path}` };
  await using session = openSqliteSession(path);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '17', code: 'C-17', _raw: RAW }]));
  return { path, env };
}

/** A process that sends serves this mirror. */
async function serveOutbox(path: string, roles: readonly string[] = ['outbound']): Promise<void> {
  await using session = openSqliteSession(path);
  await saveHeartbeat(session, { owner: 'elsewhere:1:a', roles });
}

const outbox = (path: string) => ask(path, 'select * from outbox order by id');

/** What a sender would have made of an entry. */
async function settle(path: string, id: number, patch: EntryPatch): Promise<void> {
  await using session = openSqliteSession(path);
  await session.atomically((tx) => changeEntry(tx, { id, epoch: 0, patch, now: new Date() }));
}

const pushed = (...argv: readonly string[]) => ['push', ...argv];
const ADA = pushed('create', 'clients', '--data', '{"code":"C-1","name":"Ada","credit":10.50}');
const RENAME = pushed('update', 'clients', '17', '--data', '{"name":"Zoé"}');

describe('push', () => {
  test('create stores an entry, for a program and for a person', async () => {
    const { path, env } = await mirror();
    const asJson = await run([...ADA, '--key', 'ada', '--json'], env);
    expect(asJson).toMatchObject({ code: 0, stderr: QUEUED });
    expect(document(asJson)).toEqual({
      id: 1,
      state: 'ready',
      key: 'ada',
      kind: 'clients',
      operation: 'create',
      recordId: null,
      isNew: true,
      notes: [],
    });
    expect(outbox(path)).toMatchObject([
      {
        id: 1n,
        idempotency_key: 'ada',
        state: 'ready',
        payload: '{"code":"C-1","name":"Ada","credit":10.50}',
      },
    ]);
    const again = await run([...ADA, '--key', 'ada'], env);
    expect(again).toEqual({
      code: 0,
      stderr: QUEUED,
      stdout: 'Entry 1: create clients, stored before, now ready. Key: ada\n',
    });
    expect(document(await run([...ADA, '--key', 'ada', '--json'], env))).toMatchObject({
      id: 1,
      isNew: false,
    });
    expect(outbox(path)).toHaveLength(1);
    await run(['outbox', 'abandon', '1'], env);
    const abandoned = await run([...ADA, '--key', 'ada'], env);
    expect(abandoned).toMatchObject({ code: 0, stderr: '' });
    expect(abandoned.stdout).toContain('will not be sent. To send it after all: push it with another key.');
  });

  test('reads the fields from a file', async () => {
    const { path, env } = await mirror();
    const file = join(tempFolder(), 'ada.json');
    writeFileSync(file, '\ufeff{\n  "code": "C-1",\n  "credit": 12345678901234567890.10\n}\n');
    expect((await run(pushed('create', 'clients', '--data', `@${file}`), env)).code).toBe(0);
    expect(outbox(path)).toMatchObject([{ payload: '{"code":"C-1","credit":12345678901234567890.10}' }]);
  });
});

describe('push --dry-run stores and sends nothing, and shows', () => {
  const dry = async (argv: readonly string[], env: Env) => {
    const asJson = await run([...argv, '--dry-run', '--json'], env);
    const asText = await run([...argv, '--dry-run'], env);
    expect(asJson).toMatchObject({ code: 0, stderr: '' });
    expect(asText).toMatchObject({ code: 0, stderr: '' });
    expect(asText.stdout).toMatch(/\nNothing was stored or sent\.\n$/);
    return { json: document(asJson), text: asText.stdout, raw: asJson.stdout };
  };

  test('the request of a create, and that the mirror has nothing with its key', async () => {
    const { path, env } = await mirror();
    const { json, text, raw } = await dry(ADA, env);
    expect(json).toEqual({
      dryRun: true,
      operation: 'create',
      kind: 'clients',
      notes: [],
      alike: [],
      request: { method: 'POST', path: '/api/clients', body: { code: 'C-1', name: 'Ada', credit: 10.5 } },
    });
    expect(raw).toContain('"credit":10.50');
    expect(text).toContain('POST /api/clients\n{"code":"C-1","name":"Ada","credit":10.50}\n');
    expect(text).toContain('The mirror has no record with its natural key.');
    expect(outbox(path)).toEqual([]);
  });

  test('what of an update would be put, compared with the mirror’s row', async () => {
    const { path, env } = await mirror();
    const argv = pushed(
      'update',
      'clients',
      '17',
      '--data',
      '{"name":"Zoé","credit":10.1,"adresse2":"app. 3"}',
    );
    const { json, text } = await dry(argv, env);
    expect(json).toEqual({
      dryRun: true,
      operation: 'update',
      kind: 'clients',
      notes: [],
      recordId: '17',
      against: 'mirror',
      merge: 'set',
      conflicts: [],
      request: { method: 'PUT', path: '/api/clients/17', body: { name: 'Zoé', address2: 'app. 3' } },
    });
    expect(text).toContain("Compared with the mirror's row");
    expect(text).toContain('PUT /api/clients/17\n{"name":"Zoé","address2":"app. 3"}\n');
    expect(outbox(path)).toEqual([]);
  });

  test('conflicts with what somebody else has done since the base', async () => {
    const { env } = await mirror();
    const { json, text } = await dry([...RENAME, '--base', '{"name":"Ada"}'], env);
    expect(json).toMatchObject({
      merge: 'conflict',
      request: null,
      conflicts: [{ field: 'name', base: 'Ada', remote: 'Bea', wanted: 'Zoé' }],
    });
    expect(text).toMatch(/\nname +Ada +Bea +Zoé\n/);
  });
});

describe('push --wait', () => {
  const keyed = [...ADA, '--key', 'ada'];

  test.each<[EntryPatch, number]>([
    [{ state: 'done', verdict: 'sent', recordId: '501', result: '{"recordId":"501"}' }, 0],
    [{ state: 'rejected', verdict: 'service_refused', result: '{"status":422}' }, 1],
    [{ state: 'abandoned' }, 1],
    [{ state: 'parked', verdict: 'twins', result: '{"ids":["1","2"]}' }, 3],
  ])('ends once the entry is %o: with %i', async (patch, code) => {
    const { path, env } = await mirror();
    await run(keyed, env);
    await settle(path, 1, patch);
    const ended = await run([...keyed, '--wait', '--timeout', '600', '--json'], env);
    expect(ended.code).toBe(code);
    expect(document(ended)).toMatchObject({
      id: 1,
      state: patch.state,
      verdict: patch.verdict ?? null,
      recordId: patch.recordId ?? null,
      isNew: false,
      meaning: expect.any(String) as string,
      result: JSON.parse(patch.result ?? 'null') as unknown,
    });
    const { stdout } = await run([...keyed, '--wait'], env);
    expect(stdout).toContain(`  It is ${String(patch.state)}${code === 0 ? ', record 501' : ''}. `);
  });

  const served = async () => {
    const { path, env } = await mirror();
    await serveOutbox(path);
    return { path, env: { ...env, BMS_WRITES: 'on' } };
  };

  test('sees what becomes of the entry meanwhile', async () => {
    const { path, env } = await served();
    const waiting = run([...keyed, '--wait', '--timeout', '25', '--json'], env);
    while (outbox(path).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await settle(path, 1, { state: 'done', recordId: '501' });
    expect(document(await waiting)).toMatchObject({ state: 'done', recordId: '501', isNew: true });
  });

  test('ends with 3 at Ctrl-C; the entry stays', async () => {
    const { path, env } = await served();
    const stop = new AbortController();
    const waiting = run([...keyed, '--wait', '--timeout', '600', '--json'], env, stop.signal);
    while (outbox(path).length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect((await waiting).code).toBe(3);
    expect(outbox(path)).toMatchObject([{ state: 'ready' }]);
  });

  test.each<[string, string, readonly string[]]>([
    ['writes are off', 'off', []],
    ['nobody serves', 'on', []],
    ['nobody serves the outbox', 'on', ['pulls']],
  ])('says at once that %s, and ends with 3', async (_case, writes, roles) => {
    const { path, env } = await mirror();
    if (roles.length > 0) await serveOutbox(path, roles);
    const waits = vi.spyOn(systemClock, 'sleep');
    onTestFinished(() => {
      waits.mockRestore();
    });
    const ended = await run([...keyed, '--wait', '--timeout', '600', '--json'], {
      ...env,
      BMS_WRITES: writes,
    });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toBe('');
    expect(waits).not.toHaveBeenCalled();
    const meaning = VERDICTS.writes_off;
    expect(document(ended)).toMatchObject({ id: 1, state: 'ready', verdict: 'writes_off', meaning });
    const again = await run([...keyed, '--wait'], { ...env, BMS_WRITES: writes });
    expect(again.stdout).toContain(`It is ready. ${meaning}\n`);
  });

  test('waits for a process that sends, even if its own settings have writes off', async () => {
    const { env } = await served();
    const ended = await run([...keyed, '--wait', '--timeout', '0', '--json'], { ...env, BMS_WRITES: 'off' });
    expect(ended).toMatchObject({ code: 3, stderr: '' });
  });
});

describe('a field that nobody knows', () => {
  const WRONG = pushed('create', 'clients', '--data', '{"code":"C-1","names":"Ada"}');

  test('is sent where that was asked for', async () => {
    const { path, env } = await mirror();
    const { code, stdout } = await run([...WRONG, '--allow-unknown'], env);
    expect(code).toBe(0);
    expect(stdout).toContain('  Note: names is unknown: it is sent unchanged\n');
    expect(outbox(path)).toMatchObject([{ payload: '{"code":"C-1","names":"Ada"}', allow_unknown: 1n }]);
    const shown = await run(['outbox', 'show', '1'], env);
    expect(shown.stdout).toContain('\nallow_unknown: unknown fields are sent, too');
    const asJson = await run(['outbox', 'show', '1', '--json'], env);
    expect(document(asJson)).toMatchObject({ allowUnknown: true });
  });
});

describe('a create whose natural key something has', () => {
  const AGAIN = pushed('create', 'clients', '--data', '{"code":"C-17","name":"Other"}');

  test('is refused with the record that has it, and stored where it is allowed', async () => {
    const { path, env } = await mirror();
    const refused = await run(AGAIN, env);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Record 17 of clients has the same natural key.');
    expect(refused.stderr).toContain('--allow-double');
    expect(outbox(path)).toEqual([]);
    expect((await run([...AGAIN, '--allow-double'], env)).code).toBe(0);
    expect(outbox(path).map(({ allow_double }) => allow_double)).toEqual([1n]);
  });
});

describe('push --batch', () => {
  const batch = (env: Env, lines: readonly string[], ...argv: readonly string[]) =>
    run(['push', '--batch', ...argv], env, undefined, [Buffer.from(lines.join('\n'))]);

  const LINES = [
    '{"operation":"create","kind":"clients","data":{"code":"C-1"},"key":"one"}',
    '',
    '{"operation":"update","kind":"clients","id":17,"data":{"name":"Zoé"},"base":{"name":"Bea"}}',
    '{"operation":"update","kind":"clients","id":"17","data":{"credit":10.50},"key":"three"}',
    '',
  ];

  test('an empty one says so', async () => {
    const { env } = await mirror();
    const { code, stderr } = await batch(env, []);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('The batch is empty') as string,
    });
  });

  test('stores entries from stdin in their order, and prints one document', async () => {
    const { path, env } = await mirror();
    const ended = await batch(env, LINES, '--json');
    expect(ended).toMatchObject({ code: 0, stderr: QUEUED });
    expect(document(ended)).toMatchObject({
      entries: [
        { id: 1, key: 'one', operation: 'create', recordId: null, isNew: true },
        { id: 2, operation: 'update', recordId: '17', isNew: true },
        { id: 3, key: 'three', recordId: '17', isNew: true },
      ],
    });
    expect(outbox(path).map(({ payload, base }) => [payload, base])).toEqual([
      ['{"code":"C-1"}', null],
      ['{"name":"Zoé"}', '{"name":"Bea"}'],
      ['{"credit":10.50}', RAW],
    ]);
    expect((await batch(env, LINES)).stdout.match(/^Entry/gm)).toHaveLength(3);
  });

  test('shows what it would do, and waits for all', async () => {
    const { path, env } = await mirror();
    expect(document(await batch(env, LINES, '--dry-run', '--json'))).toMatchObject({
      entries: [{ operation: 'create' }, { merge: 'set' }, { merge: 'set' }],
    });
    expect(outbox(path)).toEqual([]);
    const [first = '', , , third = ''] = LINES;
    await batch(env, [first, third]);
    await settle(path, 1, { state: 'done' });
    const waited = await batch(env, [first, third], '--wait', '--timeout', '0', '--json');
    expect(waited.code).toBe(3);
    expect(document(waited)).toMatchObject({ entries: [{ state: 'done' }, { state: 'ready' }] });
    await settle(path, 2, { state: 'rejected' });
    expect((await batch(env, [first, third], '--wait')).code).toBe(1);
  });

  test('ends with 1 at Ctrl-C before its entries are there, and stores none', async () => {
    const { path, env } = await mirror();
    const stop = new AbortController();
    stop.abort();
    const ended = await run(['push', '--batch'], env, stop.signal, LINES);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('Interrupted: nothing was stored.');
    expect(outbox(path)).toEqual([]);
  });

  test('is piped into the program, and leaves it at once', async () => {
    const { path, env } = await mirror();
    const pipe = `printf '%s\\n' '${LINES[0] ?? ''}' | "${process.execPath}" "${MAIN}" push --batch --json`;
    const { stdout } = await promisify(execFile)('sh', ['-c', pipe], {
      env: { PATH: process.env['PATH'], ...env },
    });
    expect(JSON.parse(stdout)).toMatchObject({ entries: [{ id: 1, key: 'one' }] });
    expect(outbox(path)).toHaveLength(1);
  });
});
