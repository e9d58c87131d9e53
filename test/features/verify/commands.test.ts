import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GUARD_SETTING } from '../../../src/db/session/write-guard.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import { KINDS, LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { KindComparison } from '../../../src/features/verify/verify-kinds.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import { rewriting } from '../../pull/support.ts';
import {
  ONLY_PROGRESS,
  document,
  run,
  settingsFor,
  type Ended,
  type Env,
} from '../../support/command-line.ts';
import { KIND_NAMES, ask, dump } from '../../support/mirror-file.ts';
import { poison } from '../../support/poison.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';
import { requestNumber } from '../../support/requests.ts';
import { ownConnection } from '../../support/own-connection.ts';
import { copyMirror } from '../../support/sqlite-templates.ts';
import { freshMirror } from '../../support/temp-folder.ts';
import { sized } from '../../support/tiers.ts';

const verdicts = (ended: Pick<Ended, 'stdout'>): readonly KindComparison[] =>
  (document(ended) as { kinds: readonly KindComparison[] }).kinds;

function verdictOn(ended: Pick<Ended, 'stdout'>, kind: string): KindComparison {
  const verdict = verdicts(ended).find((one) => one.kind === kind);
  if (verdict === undefined) throw new Error(`${kind} is not in ${ended.stdout}`);
  return verdict;
}

/** Changes a mirror behind its back. */
function tamper(path: string, statement: string): void {
  const database = ownConnection(path);
  expect(database.prepare(statement).run().changes).toBeGreaterThan(0);
  database.close();
}

interface Mirrored {
  readonly path: string;
  readonly env: Env;
}

/** A mirror that knows every page of the service: a pull parses none of them again. */
async function mirrored(service: Sandbox, kinds: readonly string[] = []): Promise<Mirrored> {
  const path = freshMirror();
  await copyMirror(path, KINDS); // The values that a service sends decide over its columns.
  const env = settingsFor(service, path);
  expect(await run(['pull', ...kinds], env)).toMatchObject({ code: 0 });
  expect(await run(['pull', ...kinds], env)).toMatchObject({ code: 0 }); // What the first one discovered, the second knows.
  return { path, env };
}

describe('a mirror that holds what the service sends', () => {
  test('is the same in every kind however nasty the values are (C01-C18), and nothing is written but the run', async () => {
    await using sandbox = await startSandbox({ size: 40 });
    for (const { name } of LISTED_KINDS) poison(sandbox, name);
    const { path, env } = await mirrored(sandbox);
    const state = () => [
      dump(path),
      ask(path, 'select * from kind_state'),
      ask(path, 'select * from sightings'),
    ];
    const before = state();

    const ended = await run(['verify', '--json'], env);

    expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
    expect(verdicts(ended)).toEqual(
      KIND_NAMES.map((kind) => ({
        kind,
        same: sandbox.world.count(kind),
        moved: 0,
        unlisted: 0,
        differs: 0,
        missing: 0,
        surplus: 0,
        quarantined: 0,
        reason: null,
        detail: null,
        repair: null,
        differences: [],
      })),
    );
    expect(document(ended)).toMatchObject({ runId: 3, startedAt: expect.stringMatching(/Z$/) as string });
    expect(state()).toEqual(before);
    expect(ask(path, 'select command, state, kinds from runs where id > 2')).toEqual([
      { command: 'verify', state: 'done', kinds: JSON.stringify(KIND_NAMES) },
    ]);
  });

  test('is the same on PostgreSQL too, nasty values included', async () => {
    await using sandbox = await startSandbox({ size: 25 });
    for (const { name } of LISTED_KINDS) poison(sandbox, name);
    const env = { ...settingsFor(sandbox, ''), DATABASE_URL: await freshDatabaseUrl('template_all_kinds') };
    await run(['pull'], env);

    expectAllSame(await run(['verify', '--json'], env), sandbox);
  });

  test('counts what can be no row as quarantined, and not as a difference', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    sandbox.world.insert('vehicle_brands', { id: Number.MAX_SAFE_INTEGER * 2 ** 11, name: 'Beyond' });
    const { env } = await mirrored(sandbox, ['vehicle_brands']);

    const ended = await run(['verify', 'vehicle_brands', '--json'], env);

    expect(ended.code).toBe(0);
    const same = sandbox.world.count('vehicle_brands') - 1;
    expect(verdicts(ended)).toMatchObject([{ same, differs: 0, missing: 0, quarantined: 1 }]);
  });

  test('two contents under one id are quarantined too, and the row that there was is not surplus (A18)', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const [id = 0] = sandbox.world.ids('departments');
    let isTorn = false;
    const service = await rewriting(sandbox, (body, path) =>
      isTorn && !path.includes('page=')
        ? body.replace('"data":[', `"data":[{"id":${id},"name":"other"},`)
        : body,
    );
    const { env } = await mirrored(service, ['departments']);
    isTorn = true;

    const ended = await run(['verify', 'departments', '--json'], env);

    const same = sandbox.world.count('departments') - 1;
    expect(verdicts(ended)).toMatchObject([{ same, moved: 0, differs: 0, surplus: 0, quarantined: 1 }]);
    expect(ended.code).toBe(0);
  });
});

function expectAllSame(ended: Ended, { world }: Sandbox): void {
  for (const verdict of verdicts(ended)) {
    expect(verdict.differences, verdict.kind).toEqual([]);
    expect(verdict).toMatchObject({ same: world.count(verdict.kind), moved: 0, differs: 0, reason: null });
  }
  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
}

/** The first client that has contacts. */
const parentIn = ({ world }: Sandbox): number =>
  world.ids('clients').find((id) => JSON.stringify(world.get('clients', id)).includes('"nom"')) ?? 0;

describe('a mirror that was tampered with differs', () => {
  let service: Sandbox;
  beforeAll(async () => {
    service = await startSandbox({ size: 130 });
  });
  afterAll(() => service.close());

  /** What every test here begins with is read once for each kind: tests change their copy alone, never the service. */
  const originals = new Map<string, Buffer>();
  async function copyOfMirrored(kind: string): Promise<Mirrored & { readonly sandbox: Sandbox }> {
    const bytes = originals.get(kind) ?? readFileSync((await mirrored(service, [kind])).path);
    originals.set(kind, bytes);
    const path = freshMirror();
    writeFileSync(path, bytes);
    return { sandbox: service, path, env: settingsFor(service, path) };
  }

  test.each<[string, string, string]>([
    ['clients', 'credit', `update clients set credit = printf('%.2f', credit + 0.01) where id = ?`],
    ['clients', 'name', `update clients set name = name || 'x' where id = ?`],
    ['clients', 'inactive', `update clients set inactive = 1 - inactive where id = ?`],
    ['clients', 'contacts', `update clients set contacts = '[{"id":1}]' where id = ?`],
    ['punches', 'start_time', `update punches set start_time = '00:00:01' where id = ?`],
    ['products', 'price', `update products set price = '0.01' where id = ?`], // Discovered.
    ['clients', '_raw', `update clients set _raw = substr(_raw, 1, 40) where id = ?`],
  ])('%s.%s: %s', async (kind, field, statement) => {
    const { sandbox, path, env } = await copyOfMirrored(kind);
    const id = sandbox.world.ids(kind)[7] ?? 0;
    tamper(path, statement.replace('?', String(id)));

    const ended = await run(['verify', kind, '--json'], env);

    expect(ended).toMatchObject({ code: 3, stderr: ONLY_PROGRESS });
    const verdict = verdictOn(ended, kind);
    const same = sandbox.world.count(kind) - 1;
    expect(verdict).toMatchObject({ same, moved: 0, differs: 1, missing: 0, surplus: 0, reason: null });
    expect(verdict.repair).toBe(`bms-sync backfill ${kind} --ids ${id}`);
    expect(verdict.differences.map((one) => [one.id, one.field])).toEqual([[String(id), field]]);
    const verified = await run(['verify', kind], env);
    expect(verified.code).toBe(3);
    expect(verified.stdout).toContain(`bms-sync backfill ${kind} --ids ${id}`);
    expect(verified.stdout).toMatch(new RegExp(`${kind} +${id} +${field}`));
    expect(ask(path, "select state from runs where command = 'verify'")).toEqual([
      { state: 'done' },
      { state: 'done' },
    ]);
    const [, run2 = ''] = /Run (\d+)/.exec(verified.stdout) ?? [];
    const shown = (await run(['runs', 'show', run2], env)).stdout;
    expect(shown).toMatch(new RegExp(`^Run ${run2}: verify, done, `));
    expect(shown).toMatch(new RegExp(`^${kind} +done +${same + 1} +0 +0 +0 +0 +${same} +0 +[1-9]`, 'm'));
    const needs = async () => (await run(['status'], env)).stdout;
    expect(await needs()).toContain(`1 record of ${kind} differs from the service`);
    const repaired = await run(['backfill', kind, '--ids', String(id)], env);
    const rows = field === '_raw' ? 0 : 1; // Its text differs: it counts as updated.
    expect(repaired.stdout).toContain(`All their columns were filled again. Repaired rows: ${rows}.`);
    expect(await needs()).not.toContain('differs from the service');
  });

  test.each([
    ['marked', 129, '--ids', `update clients set _deleted_at = '2026-01-01 00:00:00.000' where id = ?`],
    ['deleted', 129, '--ids', `delete from clients where id = ?`],
    [
      'inserted',
      130,
      '--all',
      `insert into clients (id, name, _raw, _first_seen_at, _changed_at, _response, _listed)
       select 987654321, name, _raw, _first_seen_at, _changed_at, _response, _listed from clients where id = ?`,
    ],
  ])('in a row that was %s, until the backfill that it names', async (_how, same, extent, statement) => {
    const { sandbox, path, env } = await copyOfMirrored('clients');
    tamper(path, statement.replace('?', String(sandbox.world.ids('clients')[7] ?? 0)));

    const ended = await run(['verify', 'clients', '--json'], env);

    expect(ended.code).toBe(3);
    const { repair, ...verdict } = verdictOn(ended, 'clients');
    expect(verdict).toMatchObject({ same, moved: 0, differs: 1 });
    expect(repair).toContain(`bms-sync backfill clients ${extent}`);
    expect(await run((repair ?? '').split(' ').slice(1), env)).toMatchObject({ code: 0 });
    expect(verdictOn(await run(['verify', 'clients', '--json'], env), 'clients')).toMatchObject({
      same: 130,
      differs: 0,
    });
  });

  test.each([
    ['changed', `update clients_contacts set email = 'x@y.z' where parent_id = ? and position = 0`],
    ['moved', `update clients_contacts set position = position + 9 where parent_id = ? and position = 0`],
    ['added', `insert into clients_contacts (parent_id, position, nom) values (?, 3, 'Invented')`],
    ['taken away', `delete from clients_contacts where parent_id = ?`],
  ])('in a nested row that was %s', async (_how, statement) => {
    const { sandbox, path, env } = await copyOfMirrored('clients');
    const id = parentIn(sandbox);
    tamper(path, statement.replace('?', String(id)));

    const ended = await run(['verify', 'clients', '--json'], env);

    expect(ended).toMatchObject({ code: 3, stderr: ONLY_PROGRESS });
    const verdict = verdictOn(ended, 'clients');
    expect(verdict).toMatchObject({ same: 129, differs: 1, repair: `bms-sync backfill clients --ids ${id}` });
    expect(verdict.differences.map((one) => [one.id, one.field])).toContainEqual([
      String(id),
      'clients_contacts',
    ]);
    expect(await run(['backfill', 'clients', '--ids', String(id)], env)).toMatchObject({ code: 0 });
    expect(verdictOn(await run(['verify', 'clients', '--json'], env), 'clients')).toMatchObject({
      same: 130,
      differs: 0,
    });
  });

  test('in every row: the counts are whole, the differences are the first hundred', async () => {
    const { path, env } = await copyOfMirrored('clients');
    tamper(path, `update clients set credit = credit || '1', city = 'Nulle-Part'`);

    const ended = await run(['verify', 'clients', '--json'], env);

    expect(verdictOn(ended, 'clients')).toMatchObject({ same: 0, moved: 0, differs: 130 });
    expect(verdictOn(ended, 'clients').differences).toHaveLength(100);
    const output = (await run(['verify', 'clients'], env)).stdout;
    expect(output.match(/^clients +\d+ +(?:credit|city) /gm)).toHaveLength(20);
  });

  test('on PostgreSQL too', async () => {
    await using sandbox = await startSandbox({ size: 60 });
    const url = await freshDatabaseUrl('template_grown');
    const env = { ...settingsFor(sandbox, ''), DATABASE_URL: url };
    await run(['pull', 'clients', 'punches'], env);
    await run(['pull', 'clients', 'punches'], env);
    const [client = 0] = sandbox.world.ids('clients');
    const [punch = 0] = sandbox.world.ids('punches');
    const database = await bystander(url);
    await database.query(`set ${GUARD_SETTING} = 'ours'`);
    await database.query(
      `update bms_sync.clients set credit = credit + 0.01, creation_date = '1999-12-31' where id = ${client}`,
    );
    await database.query(`delete from bms_sync.punches where id = ${punch}`);
    const other = parentIn(sandbox);
    await database.query(
      `update bms_sync.clients_contacts set nom = 'X' where parent_id = ${other} and position = 0`,
    );

    const ended = await run(['verify', 'clients', 'punches', '--json'], env);

    expect(ended.code).toBe(3);
    expect(verdictOn(ended, 'clients').differences).toMatchObject([
      { id: String(client), field: 'creation_date', mirror: '1999-12-31' },
      { id: String(client), field: 'credit' },
      { id: String(other), field: 'clients_contacts', mirror: expect.stringContaining('"X"') as string },
    ]);
    expect(verdictOn(ended, 'punches')).toMatchObject({ moved: 1, differs: 0, missing: 0 });
  });
});

const SEEDS = [1, 2, 3].slice(0, sized({ quick: 1, acceptance: 3, deep: 3 }));

describe('what was changed meanwhile is moved, not different', () => {
  test('a record that changed, one that came, one that went', async () => {
    await using sandbox = await startSandbox({ size: 130 });
    const { path, env } = await mirrored(sandbox, ['clients', 'products', 'departments']);
    const [changed = 0, gone = 0] = sandbox.world.ids('clients');
    sandbox.world.update('clients', changed, { city: 'Trois-Rivières', credit: '9999.99' });
    sandbox.world.remove('clients', gone);
    sandbox.world.insert('products', { code: 'NEW' });

    const ended = await run(['verify', 'clients', 'products', 'departments', '--json'], env);

    expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
    expect(verdictOn(ended, 'clients')).toMatchObject({
      same: 128,
      moved: 1,
      unlisted: 1,
      differs: 0,
      missing: 0,
      surplus: 0,
      reason: null,
      differences: [],
      detail: 'rows that have left the list: 1 to be confirmed',
    });
    expect(verdictOn(ended, 'products')).toMatchObject({ same: 130, moved: 1, differs: 0 });
    expect(ask(path, `select city from clients where id = ${changed}`)).toEqual([{ city: 'Trois-Rivières' }]);
    expect(ask(path, 'select command, kinds from runs where id > 3')).toEqual([
      { command: 'pull', kinds: '["clients"]' },
      { command: 'pull', kinds: '["products"]' },
    ]);
    expect(verdictOn(await run(['verify', 'products', '--json'], env), 'products')).toMatchObject({
      same: 131,
    });

    tamper(path, `update deletions set state = 'rejected'`);
    const { stdout } = await run(['verify', 'clients'], env);
    const kept = 'clients: rows that have left the list: 1 kept by a decision';
    expect(stdout).toContain(kept);
    const [, id = ''] = /Run (\d+)/.exec(stdout) ?? [];
    const counts = 'same 129, moved 0, unlisted 1, differs 0, quarantined 0';
    expect((await run(['runs', 'show', id], env)).stdout).toMatch(
      new RegExp(`^clients +done +130 [^]*${kept.replace(': ', `: ${counts}\\. `)}$`, 'm'),
    );
  });

  test('a record that only a single answer has shown, and that no list has: what backfill would keep is not surplus', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const { env } = await mirrored(sandbox, ['clients']);
    const id = Number(sandbox.world.insert('clients', { code: 'NEW', name: 'New' })['id']);
    expect(await run(['backfill', 'clients', '--ids', String(id)], env)).toMatchObject({ code: 0 });
    sandbox.world.remove('clients', id);

    const verdict = verdictOn(await run(['verify', 'clients', '--json'], env), 'clients');
    expect(verdict).toMatchObject({ same: 30, unlisted: 1, differs: 0, surplus: 0 });
    const backfilled = document(await run(['backfill', 'clients', '--all', '--json'], env));
    expect(backfilled).toMatchObject({ surplus: 0 });
  });

  test('a field that is another one at every look (A31)', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    let looks = 0;
    const service = await rewriting(sandbox, (body) =>
      body.replaceAll('{"id":', `{"looks":"n${++looks}","id":`),
    );
    const { env } = await mirrored(service, ['departments']);

    const ended = await run(['verify', 'departments', '--json'], env);

    const moved = sandbox.world.count('departments');
    expect(ended.code).toBe(0);
    expect(verdictOn(ended, 'departments')).toMatchObject({ same: 0, moved, differs: 0 });
  });

  test.each(SEEDS)('a list that shifts with every answer (A01, A02, A04; seed %i)', async (seed) => {
    await using sandbox = await startSandbox({ size: 60, seed, faults: [{ do: { clampPerPage: 10 } }] });
    const kinds = ['clients', 'products'];
    let isBusy = false;
    let answers = 0;
    const service = await rewriting(sandbox, (body, path) => {
      if (isBusy) shake(sandbox, path.includes('clients') ? 'clients' : 'products', seed * 7919 + ++answers);
      return body;
    });
    const { env } = await mirrored(service, kinds);
    isBusy = true;

    const ended = await run(['verify', ...kinds, '--json'], env);

    expect(answers).toBeGreaterThan(20);
    expect(verdicts(ended).flatMap(({ differences }) => differences)).toEqual([]);
    for (const verdict of verdicts(ended)) expect(verdict).toMatchObject({ differs: 0, reason: null });
    isBusy = false;
    const quiet = await run(['verify', ...kinds, '--json'], env);
    for (const { kind, same, moved, differs } of verdicts(quiet)) {
      expect(same + moved).toBeGreaterThanOrEqual(sandbox.world.count(kind));
      expect(differs).toBe(0);
    }
  });
});

/** One change of a list: a record comes, goes, or sorts elsewhere. */
function shake({ world }: Sandbox, kind: string, step: number): void {
  const ids = world.ids(kind);
  const id = ids[(step * 31) % ids.length] ?? 0;
  if (step % 3 === 0) world.insert(kind, { code: `S${step}` });
  else if (step % 3 === 1) world.remove(kind, id);
  else world.update(kind, id, { code: `U${step}` });
}

describe('what cannot be compared is said', () => {
  test('a kind that may not be read: the others are compared, and the exit code is 3 (A22)', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const { env } = await mirrored(sandbox, ['projects', 'clients', 'departments']);
    sandbox.setFaults([{ on: { kind: 'clients' }, do: { refuse: true } }]);

    const ended = await run(['verify', 'projects', 'clients', 'departments', '--json'], env);

    expect(ended.code).toBe(3);
    expect(verdictOn(ended, 'clients')).toMatchObject({ same: 0, reason: 'forbidden' });
    expect(verdictOn(ended, 'clients').detail).toMatch(/status 403/);
    for (const { kind, same, reason } of verdicts(ended).filter((one) => one.kind !== 'clients'))
      expect([kind, same, reason]).toEqual([kind, sandbox.world.count(kind), null]);
    expect((await run(['verify', 'clients'], env)).stdout).toMatch(/^clients +0 .* forbidden$/m);
  });

  test('a list that breaks off: what was seen once is no verdict', async () => {
    await using sandbox = await startSandbox({ size: 230 });
    const { path, env } = await mirrored(sandbox, ['clients']);
    tamper(path, `update clients set city = 'Nulle-Part' where id = ${sandbox.world.ids('clients')[0] ?? 0}`);
    sandbox.setFaults([{ on: { kind: 'clients', page: 2 }, do: { html: true } }]);

    const ended = await run(['verify', 'clients', '--json'], env);

    expect(ended.code).toBe(3);
    expect(verdictOn(ended, 'clients')).toMatchObject({
      moved: 0,
      differs: 0,
      surplus: 0,
      reason: 'page_unread',
    });
    expect(verdictOn(ended, 'clients').detail).toMatch(
      /1 that did not agree could not be looked at again\.$/,
    );
  });

  test('a kind that somebody else is pulling: no lease is needed to look, but one to look twice', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const { path, env } = await mirrored(sandbox, ['clients']);
    const until = formatInstant(new Date(Date.now() + 120_000));
    tamper(path, `update kind_state set owner = 'elsewhere:1:x', lease_until = '${until}'`);

    expect(await run(['verify', 'clients', '--json'], env)).toMatchObject({ code: 0 });

    sandbox.world.update('clients', sandbox.world.ids('clients')[0] ?? 0, { city: 'Gaspé' });
    const ended = await run(['verify', 'clients', '--json'], env);
    expect(ended.code).toBe(3);
    expect(verdictOn(ended, 'clients')).toMatchObject({ same: 29, moved: 0, differs: 0, reason: 'busy' });
  });

  test('Ctrl-C: the page at hand is compared, the rest is named, and the exit code is 3', async () => {
    await using sandbox = await startSandbox({ size: 130 });
    const { path, env } = await mirrored(sandbox);
    const stop = new AbortController();
    const reached = requestNumber(sandbox, 4);
    const ending = run(['verify', '--json'], env, stop.signal);
    await reached;
    stop.abort();

    const ended = await ending;

    expect(ended.code).toBe(3);
    expect(verdicts(ended).map(({ kind }) => kind)).toEqual(KIND_NAMES);
    expect(verdicts(ended).at(-1)).toMatchObject({ same: 0, reason: 'interrupted' });
    expect(ask(path, "select state from runs where command = 'verify'")).toEqual([{ state: 'interrupted' }]);
  });

  test.each<[string, readonly string[], Env, number, string]>([
    ['an unknown kind', ['verify', 'client'], {}, 2, 'usage.kind'],
    ['a kind without a list', ['verify', 'sales_products'], {}, 2, 'usage.kind'],
    [
      'a mirror that is not there',
      ['verify'],
      { DATABASE_URL: 'file:/nowhere/mirror.db' },
      1,
      'mirror.absent',
    ],
    [
      'a mirror of another source',
      ['verify'],
      { BMS_BASE_URL: 'http://127.0.0.1:1/other' },
      1,
      'mirror.other_source',
    ],
  ])('%s', async (_name, argv, change, code, fault) => {
    await using sandbox = await startSandbox({ size: 10 });
    const { env } = await mirrored(sandbox, ['departments']);

    const ended = await run([...argv, '--json'], { ...env, ...change });

    expect(ended.code).toBe(code);
    expect(document(ended)).toMatchObject({ error: { code: fault } });
  });
});
