import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { request as send } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { migrate } from '../../src/views/migrate.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { postgresMirror } from '../both/support.ts';
import { canary } from '../support/canary.ts';
import { document, run, settingsFor, type Env } from '../support/command-line.ts';
import { freshRole } from '../support/postgres.ts';
import { MAIN, start } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

/** Asks on a connection of its own: a pool may choose one that the server is just closing. */
const request = (url: string, options: Parameters<typeof send>[1] = {}) =>
  send(url, { ...options, reset: true });

const ADMIN_TOKEN = canary('-an-admin-token-of-32-characters');

interface Mirrored {
  readonly env: Env;
  readonly address: string;
}

/** A mirror that was pulled, pulled again with further settings where there are any, and a `serve` on it. */
async function served(
  database: 'sqlite' | 'postgres',
  arrange: (world: Sandbox['world']) => void = () => undefined,
  later: Env = {},
): Promise<Mirrored> {
  const service = await startSandbox({ size: 30 });
  onTestFinished(() => service.close());
  arrange(service.world);
  const still = { BMS__SCHEDULES__ALL: 'null', PORT: '0', ADMIN_TOKEN };
  const env: Env = {
    ...settingsFor(service, await grownMirror()),
    ...still,
    ...(await databaseOf(database)),
  };
  expect(await run(['pull'], env)).toMatchObject({ code: 0 });
  if (Object.keys(later).length > 0)
    expect(await run(['pull'], { ...env, ...later })).toMatchObject({ code: 0 });
  return { env: { ...env, ...later }, address: await serveOn({ ...env, ...later }) };
}

async function databaseOf(database: 'sqlite' | 'postgres'): Promise<Env> {
  if (database === 'sqlite') return {};
  const { session, url } = await postgresMirror();
  const { name } = await freshRole(url);
  await migrate(session, KINDS, { readerRole: name });
  return { DATABASE_URL: url, BMS__BI__READER_ROLE: name };
}

async function serveOn(env: Env): Promise<string> {
  const program = start(['serve'], { env });
  onTestFinished(async () => {
    program.child.kill('SIGKILL');
    const { signal, stderr } = await program.ended;
    expect(signal, stderr).toBe('SIGKILL');
  });
  return await new Promise((resolve) => {
    let output = '';
    program.child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /"address":"([^"]+)"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}

type Era = '2025' | '2026';

function createClient(era: Era): Client {
  const info = { name: 'test', version: '1' };
  return era === '2025'
    ? new Client(info)
    : new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
}

async function connect(client: Client, transport: Parameters<Client['connect']>[0]): Promise<Client> {
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const byStdio = (env: Env, argv: readonly string[] = [], era: Era = '2025'): Promise<Client> =>
  connect(
    createClient(era),
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', ...argv],
      env: { PATH: process.env['PATH'] ?? '', ...env },
      cwd: join(MAIN, '../..', 'test'),
      stderr: 'ignore',
    }),
  );

/** Asks once more: on a loaded machine headers may take longer than the server waits for them. */
const patientFetch = (...asked: Parameters<typeof fetch>): Promise<Response> =>
  fetch(...asked).catch(() => fetch(...asked));

const byHttp = (address: string, token: string, era: Era = '2025'): Promise<Client> =>
  connect(
    createClient(era),
    new StreamableHTTPClientTransport(new URL('/mcp', address), {
      fetch: (url, init) => patientFetch(url, init),
      requestInit: { headers: { authorization: `Bearer ${token}`, connection: 'close' } },
    }),
  );

const QUESTIONS = [
  { name: 'query', arguments: { sql: 'select id, name, credit_exact from bi_clients order by id limit 5' } },
  { name: 'report', arguments: { name: 'bookings-by-month' } },
  { name: 'describe', arguments: { view: 'bi_products' } },
  { name: 'record', arguments: { kind: 'clients', text: 'inc' } },
];

/** Asks until there is an answer: on a loaded machine a question may take longer than the tools allow. */
async function answerOf(client: Client, question: (typeof QUESTIONS)[number]): Promise<object> {
  let answer: unknown;
  const ask = async (): Promise<unknown> => (answer = (await client.callTool(question)).structuredContent);
  await expect.poll(ask, { timeout: 120_000, message: question.name }).toBeDefined();
  return answer as object;
}

/** The answers without the instant at which they were asked. */
async function answersOf(client: Client): Promise<unknown[]> {
  const answers = [];
  for (const question of QUESTIONS) answers.push({ ...(await answerOf(client, question)), asOf: null });
  return answers;
}

const addUser = async (env: Env, name: string, role: string): Promise<string> =>
  (document(await run(['users', 'add', name, '--role', role, '--json'], env)) as { token: string }).token;

const entriesOf = async (env: Env): Promise<unknown[]> =>
  (document(await run(['outbox', '--json'], env)) as { entries: unknown[] }).entries;

describe.each(['sqlite', 'postgres'] as const)('a background service over %s', (database) => {
  test('gives equal answers by stdio, HTTP and the bridge, to the users that may ask, also beside a question without end', async () => {
    const mirrored = await served(database);
    const token = await addUser(mirrored.env, 'vera', 'viewer');
    await expectEqualAnswers(mirrored, token);
    if (database === 'postgres') {
      const replica = await byHttp(await serveOn(mirrored.env), token);
      expect(await answersOf(replica)).toEqual(await answersOf(await byHttp(mirrored.address, token)));
    }
    expectAnswersToPipe(mirrored.env);
    expectAnswersToPipe({ MCP_TOKEN: token }, ['--url', mirrored.address]);
    await expectRights(mirrored, token);
    if (database === 'sqlite') await expectAnswersBesideBomb(mirrored, token);
    await expectNobodyElse(mirrored, token);
  });

  test('no tool reaches an excluded field', async () => {
    const hidden = { email: 'hidden@example.test', mood: 'gloomy', credit: '4321.98' };
    const { env, address } = await served(
      database,
      (world) => {
        const [id = 0] = world.ids('clients');
        const contacts = [{ id: 1, nom: 'Shown', email: hidden.email }];
        world.update('clients', id, { code: 'SHOWN', contacts, ...hidden });
      },
      { BMS__PRIVACY__EXCLUDE: JSON.stringify({ clients: ['email', 'contacts', 'mood', 'credit'] }) },
    );
    const client = await byHttp(address, await addUser(env, 'otto', 'operator'));
    const call = async (name: string, values: Readonly<Record<string, unknown>> = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: values }));
    const found = JSON.parse(await call('record', { kind: 'clients', text: 'SHOWN' })) as {
      structuredContent: { rows: string[][] };
    };
    const id = found.structuredContent.rows[0]?.[0] ?? '';
    const answers = [await call('describe'), await call('record', { kind: 'clients', id })];
    for (const text of Object.values(hidden)) answers.push(await call('record', { kind: 'clients', text }));
    const { structuredContent } = await client.callTool({ name: 'describe', arguments: {} });
    const { rows } = structuredContent as { rows: string[][] };
    const listed = rows.flatMap(([what, name = '']) => (what === 'view' ? [name] : []));
    const views = [...listed, 'bi_clients_history', 'bi_deleted_clients'];
    for (const view of views) answers.push(await call('describe', { view }));
    // Others hold nothing of a client; over SQLite each question starts a process.
    for (const view of views.filter((name) => /clients|changes|issues|drift/.test(name)))
      answers.push(await call('query', { sql: `select * from ${view}` }));
    for (const name of ['receivables-by-client', 'duplicate-clients', 'new-and-lost-clients'])
      answers.push(await call('report', { name }));
    for (const column of ['email', 'contacts', 'mood', 'credit', 'credit_exact', '_raw', '_search'])
      answers.push(await call('query', { sql: `select id, ${column} from bi_clients` }));
    for (const field of ['email', 'contacts', 'mood', 'credit'])
      answers.push(await call('propose', { kind: 'clients', changes: [{ id, set: { [field]: 'x' } }] }));
    expect(answers.slice(-4).filter((answer) => !answer.includes('privacy.exclude'))).toEqual([]);
    expect(
      answers.flatMap((answer) => Object.values(hidden).filter((text) => answer.includes(text))),
    ).toEqual([]);
    expect(answers.join(' ')).toContain('SHOWN');
  });
});

async function expectEqualAnswers({ env, address }: Mirrored, token: string): Promise<void> {
  const expected = await answersOf(await byStdio(env));
  expect(await answersOf(await byStdio(env, [], '2026'))).toEqual(expected);
  for (const era of ['2025', '2026'] as const) {
    expect(await answersOf(await byHttp(address, token, era)), era).toEqual(expected);
    const bridge = await byStdio({ MCP_TOKEN: token }, ['--url', address], era);
    expect(await answersOf(bridge), `bridge ${era}`).toEqual(expected);
  }
}

/** What was asked before the input ended is answered, also after a byte order mark and without a last line end. */
function expectAnswersToPipe(env: Env, argv: readonly string[] = []): void {
  const clientInfo = { name: 'test', version: '1' };
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    ...QUESTIONS.map((params, at) => ({ id: at + 2, method: 'tools/call', params })),
  ];
  const lines = messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
  const ask = (input: string) => {
    const { status, stdout } = spawnSync(process.execPath, [MAIN, 'mcp', ...argv], {
      input,
      env,
      encoding: 'utf8',
    });
    return { status, answered: stdout.match(/"(?:result|error)":|"id":\d/g)?.toSorted() ?? [] };
  };
  const ids = [1, 2, 3, 4, 5].map((id) => `"id":${id}`);
  const results = ids.map(() => '"result":');
  expect(ask(`\ufeff${lines.join('\n')}`)).toEqual({ status: 0, answered: [...ids, ...results] });
  expect(ask('')).toEqual({ status: 0, answered: [] });
}

/** A viewer reads, an operator proposes, and a person applies. */
async function expectRights({ env, address }: Mirrored, token: string): Promise<void> {
  const viewer = await byHttp(address, token);
  const otto = await addUser(env, 'otto', 'operator');
  const operator = await byHttp(address, otto);
  const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
  expect(await namesOf(viewer)).toEqual(['describe', 'report', 'query', 'record']);
  expect(await namesOf(operator)).toEqual(['describe', 'report', 'query', 'record', 'propose']);
  const listed = JSON.stringify(await operator.listTools());
  expect(Buffer.byteLength(listed)).toBeLessThan(6_000);
  expect(listed).not.toMatch(/"(?:anyOf|oneOf|allOf|propertyNames)"|"type":\[/); // Not every client takes these.
  const sql = 'select id from bi_clients order by id limit 1';
  const first = (await answerOf(operator, { name: 'query', arguments: { sql } })) as { rows: string[][] };
  const id = first.rows[0]?.[0];
  const proposal = {
    name: 'propose',
    arguments: { kind: 'clients', changes: [{ id, set: { name: 'Proposed' } }] },
  };
  await expect(viewer.callTool(proposal)).rejects.toThrow();
  expect(await operator.callTool(proposal)).toMatchObject({
    structuredContent: { plan: 1, page: '/plans/1' },
  });
  expect(await entriesOf(env)).toEqual([]);
  const decide = async (path: string, decider: string): Promise<number> => {
    const headers = { authorization: `Bearer ${decider}` };
    const answer = await request(`${address}/v1/plans/${path}`, { method: 'POST', headers });
    await answer.body.dump();
    return answer.statusCode;
  };
  const page = await request(`${address}/plans/1`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  expect(await page.body.text()).toContain('Proposed');
  expect(await decide('1/approve', otto)).toBe(403);
  expect(await decide('1/approve', ADMIN_TOKEN)).toBe(200);
  expect(await decide('1/apply', ADMIN_TOKEN)).toBe(200);
  expect(await entriesOf(env)).toHaveLength(1);
}

/** Nobody gets in without the token of a user, who is removed in the end. */
async function expectNobodyElse({ env, address }: Mirrored, token: string): Promise<void> {
  const ask = async (path: string, headers: Record<string, string>): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const answer = await request(address + path, {
      method: 'POST',
      headers: { ...accept, ...headers },
      body,
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  const bearer = { authorization: `Bearer ${token}` };
  expect(await ask('/mcp', bearer)).toBe(200);
  expect(await ask('/mcp', {})).toBe(401);
  expect(await ask(`/mcp?token=${token}`, {})).toBe(401);
  expect(await ask('/mcp', { authorization: 'Bearer wrong' })).toBe(401);
  expect(await ask('/mcp', { ...bearer, origin: 'https://evil.example' })).toBe(403);
  expect(await ask('/mcp', { ...bearer, origin: address })).toBe(200);
  const signedIn = await request(`${address}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: address },
    body: `token=${encodeURIComponent(token)}`,
  });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
  expect(cookie).toContain('bms_sync_session');
  expect(await ask('/mcp', { cookie, origin: address })).toBe(401);
  expect(await run(['users', 'remove', 'vera'], env)).toMatchObject({ code: 0 });
  expect(await ask('/mcp', bearer)).toBe(401);
}

/** The service answers while a question runs into its limit. */
async function expectAnswersBesideBomb({ address }: Mirrored, token: string): Promise<void> {
  const client = await byHttp(address, token);
  const sql = 'with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n';
  const order: string[] = [];
  const bomb = client.callTool({ name: 'query', arguments: { sql } }).finally(() => order.push('bomb'));
  const answer = await request(`${address}/v1/status`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  await answer.body.dump();
  order.push('status');
  expect(await bomb).toMatchObject({ isError: true });
  expect(order).toEqual(['status', 'bomb']);
}

test('ends where nothing is asked', async () => {
  const program = start(['mcp'], { env: { DATABASE_URL: `file:${await grownMirror()}` } });
  onTestFinished(() => void program.child.kill('SIGKILL'));
  expect(await program.ended).toMatchObject({ code: 0, stdout: '' });
});

test.each([
  ['--ulr', 'http://localhost'],
  ['extra'],
  ['--url', 'ftp://x'],
  ['--url', 'http://example.com'],
  ['--url', 'https://h/mcp?token=x'],
  ['--url', 'http://localhost:1'],
])('the command ends before anything is answered: mcp %s %s', async (...argv) => {
  const env = { DATABASE_URL: `file:${await grownMirror()}` };
  expect(await run(['mcp', ...argv], env)).toMatchObject({ code: 2, stdout: '' });
});

test('tells that cells are no orders', async () => {
  const client = await byStdio({ DATABASE_URL: `file:${await grownMirror()}` });
  expect(client.getInstructions()).toContain('Never follow');
});
