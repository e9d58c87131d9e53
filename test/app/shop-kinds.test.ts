import { onTestFinished, describe, expect, test } from 'vitest';
import { readyKinds } from '../../src/catalog/declared-kinds.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { document, json, kindIn, run, settingsFor, type Env } from '../support/command-line.ts';
import { KIND_NAMES, ask } from '../support/mirror-file.ts';
import { send, serve } from '../support/serve.ts';
import { freshMirror } from '../support/temp-folder.ts';

const SHOP = readyKinds('shop').map(({ name }) => name);
const INCLUDED = JSON.stringify(['shop']);
const PATHS = new Map(readyKinds('shop').map(({ name, list }) => [list.path, name]));

interface Discovered {
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly discovered: readonly {
    readonly kind: string;
    readonly answer: string;
    readonly detail: string | null;
    readonly rows: number | null;
    readonly fields: readonly string[];
    readonly paging: string | null;
    readonly certifiable: string | null;
  }[];
}

const OTHER_ANSWERS = {
  '404': [404, { message: 'Not found.' }],
  '403': [403, { message: 'This action is unauthorized.' }],
  '500': [500, { message: 'Server error.' }],
  object: [200, { data: { total: 3 } }],
  'no ids': [200, { data: [{ name: 'x' }, { name: 'y' }] }],
  html: [200, '<!DOCTYPE html><html><body>Connexion</body></html>'],
} as const;

type Answer = 'as it is' | keyof typeof OTHER_ANSWERS;

/** A service that answers some of the undocumented lists in another way. */
async function serviceWith(answers: Readonly<Record<string, Answer>>, others: Answer = 'as it is') {
  const sandbox = await startSandbox({ size: 20 });
  onTestFinished(() => sandbox.close());
  const asked: string[] = [];
  const url = await serve((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const kind = PATHS.get(path);
    const answer = kind === undefined ? 'as it is' : (answers[kind] ?? others);
    if (kind !== undefined) asked.push(`${request.method ?? ''} ${kind}`);
    if (answer === 'as it is') void passOn(sandbox, request.url ?? '', response);
    else send(response, OTHER_ANSWERS[answer][1], OTHER_ANSWERS[answer][0]);
  });
  const path = freshMirror();
  const settings = { BMS_BASE_URL: url, BMS__INCLUDE_KINDS: INCLUDED, BMS__SOURCE__MAX_ATTEMPTS: '1' };
  return { sandbox, path, asked, env: { ...settingsFor(sandbox, path), ...settings } };
}

async function passOn(
  { url, token }: Sandbox,
  path: string,
  response: Parameters<typeof send>[0],
): Promise<void> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  send(response, await answer.json(), answer.status);
}

const discover = async (env: Env): Promise<Discovered> => {
  const ended = await run(['doctor', '--discover', '--json'], env);
  expect(ended).toMatchObject({ code: 0 });
  return document(ended) as Discovered;
};

const answersOf = ({ discovered }: Discovered): Record<string, string> =>
  Object.fromEntries(discovered.map(({ kind, answer }) => [kind, answer]));

describe('doctor --discover', () => {
  test('shows of each list what one page shows, and pulls nothing', async () => {
    const { env, path, asked } = await serviceWith({ contacts: 'no ids' });
    const found = await discover({ ...env, BMS__INCLUDE_KINDS: '[]' });

    expect(found.discovered.map(({ kind }) => kind)).toEqual(SHOP);
    const [sales] = found.discovered;
    expect(sales).toMatchObject({ answer: 'there', rows: 20, certifiable: 'yes', detail: null });
    expect(sales?.paging).toBe('500 per page, last page 1, 20 rows');
    expect(sales?.fields).toEqual(expect.arrayContaining(['id', 'client_id', 'date', 'system_id']));
    expect(asked.sort()).toEqual(SHOP.map((kind) => `GET ${kind}`).sort());
    expect(() => ask(path, 'select 1 from sales')).toThrow();
    const text = await run(['doctor', '--discover'], { ...env, BMS__INCLUDE_KINDS: '[]' });
    expect(text.stdout).toContain(
      'sales (/api/sales): there\n     500 per page, last page 1, 20 rows; can be certified',
    );
    expect(text.stdout).toContain('includeKinds: [shop]');
  });

  test('tells what is refused, not there, and of another shape from what it cannot know', async () => {
    const { env } = await serviceWith({
      sales: '404',
      sales_payments: 'html',
      vehicles: '403',
      transactions: 'object',
      contacts: 'no ids',
      tasks: '500',
    });
    expect(answersOf(await discover({ ...env, BMS__INCLUDE_KINDS: '[]' }))).toEqual({
      sales: 'not there',
      sales_products: 'there',
      sales_payments: 'not there',
      purchases: 'there',
      vehicles: 'refused',
      transactions: 'of another shape',
      contacts: 'of another shape',
      tasks: 'unknown',
      appointments: 'there',
    });
  });

  test('knows nothing of a service that answers no documented list', async () => {
    const { env } = await serviceWith({});
    const url = await serve((_, response) => {
      response.end('<html>');
    });
    const ended = await run(['doctor', '--discover', '--json'], { ...env, BMS_BASE_URL: url });
    expect(ended.code).toBe(1);
    expect(new Set(Object.values(answersOf(document(ended) as Discovered)))).toEqual(new Set(['unknown']));
  });
});

describe('includeKinds: [shop]', () => {
  test('a pull takes all that are there after the ten', async () => {
    const { env, path } = await serviceWith({});
    const ended = await run(['pull', '--json'], env);
    expect(ended).toMatchObject({ code: 0 });
    const named = json(ended).kinds.map(({ kind }) => kind);
    expect(new Set(named)).toEqual(new Set([...KIND_NAMES, ...SHOP]));
    for (const kind of SHOP)
      expect(kindIn(ended, kind)).toMatchObject({ state: 'certified', rows: expect.any(Number) as number });
    expect(document(ended)).not.toHaveProperty('off');
    const relations = `select view || '.' || "column" || ' ' || to_view as link from bi_relations`;
    const links = ask(path, relations).map(({ link }) => link);
    for (const link of [
      'bi_punches.appointment_id bi_appointments',
      'bi_purchase_products.purchase_id bi_purchases',
      'bi_sales_products.sale_id bi_sales',
      'bi_sales_payments.invoice_id bi_sales',
      'bi_appointments.vehicle_id bi_vehicles',
    ])
      expect(links).toContain(link);
    const orphans = ask(
      path,
      `select count(*) as n from bi_sales_products p left join bi_sales s on s.id = p.sale_id where s.id is null`,
    );
    expect(orphans).toEqual([{ n: 0n }]);
  });

  test('a field that the file declares is a column from the first migration; what does not fit it is kept', async () => {
    const { env, path, sandbox } = await serviceWith({});
    expect((await run(['migrate'], env)).code).toBe(0);
    const declared = 'select client_id, due_date, total, total_e4, status from bi_sales';
    expect(ask(path, declared)).toEqual([]);
    const [id = 0] = sandbox.world.ids('sales');
    sandbox.world.update('sales', id, { date: 'soon' });
    sandbox.setFaults([{ on: { kind: 'sales' }, do: { leavesOut: ['due_date'] } }]);
    expect((await run(['pull', 'sales'], env)).code).toBe(0);
    expect(ask(path, 'select distinct due_date from bi_sales')).toEqual([{ due_date: null }]);
    const kept = ask(path, `select date, date_text from bi_sales where id = ${id}`);
    expect(kept).toEqual([{ date: null, date_text: 'soon' }]);
  });

  test.each<[string, Readonly<Record<string, Answer>>, Answer, string]>([
    [
      'half of them',
      { vehicles: '403', tasks: '404', appointments: '404', contacts: 'no ids' },
      'as it is',
      'forbidden',
    ],
    ['none of them', {}, '404', 'not_found'],
    ['web pages instead', {}, 'html', 'html'],
  ])(
    'a service with %s: the others are off with the reason, and nothing fails',
    async (_, answers, others, reason) => {
      const { env, path } = await serviceWith(answers, others);
      const off = SHOP.filter((kind) => (answers[kind] ?? others) !== 'as it is');
      for (const argv of [
        ['pull', '--json'],
        ['pull', '--json'],
      ]) {
        const ended = await run(argv, env);
        expect(ended).toMatchObject({ code: 0 });
        const summary = document(ended) as { off: { kind: string; reason: string }[] };
        expect(summary.off.map(({ kind }) => kind).sort()).toEqual([...off].sort());
        expect(summary.off.find(({ kind }) => kind === 'vehicles')?.reason).toBe(reason);
        expect(
          json(ended)
            .kinds.map(({ kind }) => kind)
            .filter((kind) => off.includes(kind)),
        ).toEqual([]);
      }
      const [row] = ask(path, `select state, reason, rows from bi_sync_status where kind = 'vehicles'`);
      expect(row).toEqual({ state: 'never', reason, rows: 0n });
      const doctor = document(await run(['doctor', '--json'], env)) as Discovered;
      expect(doctor.checks.filter(({ name }) => name.startsWith('off.'))).toHaveLength(off.length);
      expect(await run(['doctor'], env)).toMatchObject({ code: 0 });
      const { kinds } = document(await run(['status', '--json'], env)) as { kinds: object[] };
      expect(kinds).toContainEqual(expect.objectContaining({ kind: 'vehicles', state: 'never', reason }));
      expect((await run(['verify', 'departments', 'vehicles'], env)).code).toBe(0);
      expect((await run(['pull', 'vehicles'], env)).stdout).toContain('vehicles is off: ');
    },
  );

  test('a kind that was read once and is gone fails like any other, and one that appears is read', async () => {
    const answers: Record<string, Answer> = { tasks: '404' };
    const { env } = await serviceWith(answers);
    expect((await run(['pull', 'sales', 'tasks', 'departments'], env)).code).toBe(0);
    answers['tasks'] = 'as it is';
    answers['sales'] = '404';
    const ended = await run(['pull', 'sales', 'tasks', 'departments', '--json'], env);
    expect(ended.code).toBe(3);
    expect(kindIn(ended, 'sales')).toMatchObject({ state: 'aborted', reason: 'not_found' });
    expect(kindIn(ended, 'tasks')).toMatchObject({ state: 'certified' });
    expect((await run(['doctor'], env)).code).toBe(1);
  });

  test('a service that fails says nothing about a kind', async () => {
    const { env } = await serviceWith({ tasks: '500' });
    const ended = await run(['pull', 'tasks', 'departments', '--json'], env);
    expect(ended.code).toBe(3);
    expect(kindIn(ended, 'tasks')).toMatchObject({ state: 'aborted', reason: 'unavailable' });
    const elsewhere = await serve((_, response) => {
      response.end('<html>');
    });
    expect(
      (
        await run(['pull', 'sales'], {
          ...env,
          BMS_BASE_URL: elsewhere,
          DATABASE_URL: `file:${freshMirror()}`,
        })
      ).code,
    ).not.toBe(0);
  });

  test('a kind of the settings stands in place of the one of the file', async () => {
    const { env } = await serviceWith({});
    const BMS__KINDS = JSON.stringify({
      sales: { list: '/api/nowhere', fields: { vehicle_id: 'reference(vehicles)' } },
    });
    const ended = await run(['pull', '--json', 'sales', 'vehicles'], { ...env, BMS__KINDS });
    expect(ended.code).toBe(3);
    expect(kindIn(ended, 'sales')).toMatchObject({ reason: 'not_found' });
  });

  test('an unknown file is refused with the names of those that exist', async () => {
    const { env } = await serviceWith({});
    const ended = await run(['migrate'], { ...env, BMS__INCLUDE_KINDS: '["garage"]' });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('includeKinds');
    expect(ended.stderr).toContain('shop');
  });
});

test('without the file no table, view or row is of these kinds', async () => {
  const { env, path, asked } = await serviceWith({});
  expect((await run(['pull'], { ...env, BMS__INCLUDE_KINDS: '[]' })).code).toBe(0);
  const names = ask(path, 'select name from sqlite_schema').map(({ name }) => String(name));
  const further = SHOP.filter((kind) => kind !== 'sales_products');
  expect(
    names.filter((name) => further.some((kind) => name === kind || name.startsWith(`bi_${kind}`))),
  ).toEqual([]);
  expect(asked).toEqual([]);
});
