import { onTestFinished, expect, test } from 'vitest';
import { compactJson } from '../../src/lib/json/json.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { document, json, kindIn, run, settingsFor, type Env } from '../support/command-line.ts';
import { KIND_NAMES, ask } from '../support/mirror-file.ts';
import { freshMirror } from '../support/temp-folder.ts';

const PURCHASES = {
  list: '/api/purchases',
  fields: { code: 'text', date: 'date', total: 'decimal(2)', created_at: 'timestamp', absent: 'decimal(3)' },
};
const COUNT = 20; // Of 30 clients: 60 lines, three to a purchase.

interface Mirror {
  readonly sandbox: Sandbox;
  readonly path: string;
  readonly env: Env;
}

async function emptyMirror(kinds: object = { purchases: PURCHASES }): Promise<Mirror> {
  const sandbox = await startSandbox({ size: 30 });
  onTestFinished(() => sandbox.close());
  const path = freshMirror();
  return { sandbox, path, env: { ...settingsFor(sandbox, path), BMS__KINDS: JSON.stringify(kinds) } };
}

test('pull takes a further kind after the ten, into a table of its own', async () => {
  const { sandbox, path, env } = await emptyMirror();
  const { world } = sandbox;

  const ended = await run(['pull', '--json'], env);

  expect(ended.code).toBe(0);
  expect(json(ended).kinds.map(({ kind }) => kind)).toEqual([...KIND_NAMES, 'purchases']);
  expect(kindIn(ended, 'purchases')).toMatchObject({ state: 'certified', rows: COUNT, created: COUNT });
  expect(
    ask(path, 'select id, code, date, total, created_at, absent, _raw from purchases order by id'),
  ).toEqual(
    world.ids('purchases').map((id) => {
      const record = world.get('purchases', id) ?? {};
      const { code, date, total, created_at } = record;
      return { id: BigInt(id), code, date, total, created_at, absent: null, _raw: compactJson(record) };
    }),
  );
});

test('it is in the status, the view of it, and the runs', async () => {
  const { path, env } = await emptyMirror();
  await run(['migrate'], env);
  expect(ask(path, "select state, rows from bi_sync_status where kind = 'purchases'")).toEqual([
    { state: 'never', rows: 0n },
  ]);

  await run(['pull'], env);

  expect(ask(path, "select state, rows from bi_sync_status where kind = 'purchases'")).toEqual([
    { state: 'certified', rows: BigInt(COUNT) },
  ]);
  const status = document(await run(['status', '--json'], env)) as { kinds: { kind: string }[] };
  expect(status.kinds.map(({ kind }) => kind)).toEqual([...KIND_NAMES, 'purchases']);
  expect((await run(['runs'], env)).stdout).toMatch(/ all\n$/);
});

test('names that SQL has a meaning for are names like others', async () => {
  const fields = {
    from: 'text',
    code: 'text',
    order: 'decimal(2)',
    Group: 'json',
    rowid: 'text',
    '1': 'flag',
  };
  const { path, env } = await emptyMirror({ order: { list: '/api/purchases', fields } });

  expect(await run(['pull', 'order'], env)).toMatchObject({ code: 0 });

  expect(ask(path, 'select count(code) as codes, count("from") as absent from bi_order')).toEqual([
    { codes: BigInt(COUNT), absent: 0n },
  ]);
});

test('a kind that is declared later joins a mirror that is there; one that is dropped leaves its rows', async () => {
  const { path, env } = await emptyMirror();
  const without = { ...env, BMS__KINDS: '{}' };
  await run(['pull'], without);
  expect((await run(['pull', 'purchases'], env)).stderr).toContain('bms-sync migrate takes over these');
  await run(['migrate'], env);
  await run(['pull', 'purchases'], env);
  expect(ask(path, 'select id from bi_purchases')).toHaveLength(COUNT);

  await run(['migrate'], without);
  expect(json(await run(['pull', '--json'], without)).kinds).toHaveLength(KIND_NAMES.length);
  expect(ask(path, 'select id from bi_purchases')).toHaveLength(COUNT);
});

test('a wrong path fails this kind alone, and doctor finds it', async () => {
  const { env } = await emptyMirror({ purchases: PURCHASES, sales: { list: '/api/sale' } });

  const ended = await run(['pull', '--json', 'sales', 'purchases'], env);
  expect(ended.code).toBe(3);
  expect(kindIn(ended, 'sales')).toMatchObject({ state: 'aborted', reason: 'not_found' });
  expect(kindIn(ended, 'purchases')).toMatchObject({ state: 'certified' });

  const doctor = await run(['doctor', '--json'], env);
  expect(doctor.code).toBe(1);
  const { checks } = document(doctor) as { checks: { name: string; ok: boolean }[] };
  expect(checks.slice(-2).map(({ name, ok }) => [name, ok])).toEqual([
    ['kinds.purchases', true],
    ['kinds.sales', false],
  ]);
  expect(checks.filter(({ ok }) => !ok)).toHaveLength(1);
});

test('no table, view or index of a mirror can be the name of a further kind', async () => {
  const { path, env } = await emptyMirror();
  await run(['pull'], env);
  const names = ask(path, `select name from sqlite_master where type <> 'trigger'`).map(({ name }) =>
    String(name),
  );

  const taken = names.filter((one) => one !== 'purchases');
  const kinds = Object.fromEntries(taken.map((name) => [name, { list: '/api/purchases' }]));
  const ended = await run(['migrate'], {
    ...env,
    BMS__KINDS: JSON.stringify({ purchases: PURCHASES, ...kinds }),
  });
  expect(ended.code).toBe(2);
  expect(taken.filter((name) => !ended.stderr.includes(`kinds.${name} (from BMS__KINDS)`))).toEqual([]);
  expect(ended.stderr).not.toContain('kinds.purchases (');
});
