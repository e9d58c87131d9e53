import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { insertPlan } from '../../../../src/features/plans/store.ts';
import { insertUser } from '../../../../src/store/users/user-store.ts';
import type { Session } from '../../../../src/db/session/session.ts';
import { serveMirror } from '../../../http/stage.ts';
import { ONE_DATABASE } from '../../../store/databases.ts';
import { NOON_TEXT, putRecords } from '../../../store/temp-mirror.ts';

const cells = (from: string, to: string): string => JSON.stringify([{ field: 'name', old: from, new: to }]);

/** A plan of Ada's for so many clients, and a row that is refused. */
const storePlan = (session: Session, clients: number, createdBy = 'Ada') =>
  session.atomically(async (tx) => {
    const ids = Array.from({ length: clients }, (_, index) => String(index + 1));
    await tx.query(sql`delete from clients`);
    await putRecords(
      tx,
      'clients',
      ids.map((id) => ({ id, _raw: `{"id":${id},"code":"C-${id}","name":"Old ${id}"}` })),
    );
    const changed = ids.map((id, index) => {
      const row = { position: index + 2, operation: 'update', recordId: id, refusal: null } as const;
      return { ...row, cells: cells(`Old ${id}`, `<b>New ${id}</b>`) };
    });
    const refused = { position: clients + 2, operation: 'update', recordId: '999', cells: '[]' } as const;
    const head = { kind: 'clients', origin: 'clients.csv', createdBy, createdAt: NOON_TEXT };
    return insertPlan(tx, head, [...changed, { ...refused, refusal: 'record 999 is <gone>' }]);
  });

/** A server with an operator who has made the plans, and another one. */
async function serving(session: Session, approvals = 1) {
  const stage = await serveMirror(session, { plans: { approvals } });
  for (const name of ['Ada', 'Marie'])
    await session.atomically((tx) => insertUser(tx, { name, role: 'operator', token: `of-${name}` }));
  const as = (name: string) => ({ authorization: `Bearer of-${name}` });
  const page = async (path: string, name: string, headers = {}): Promise<string> =>
    (await (await stage.get(path, { ...as(name), ...headers })).text()).replaceAll(/\s+/g, ' ');
  const formsOn = async (path: string, name: string): Promise<readonly string[]> =>
    [...(await page(path, name)).matchAll(/action="(\/plans\/[^"]+)"/g)].map(([, to = '']) => to);
  const send = (path: string, name: string, back?: string) =>
    stage.post(path, new URLSearchParams(back === undefined ? {} : { back }).toString(), {
      ...as(name),
      'content-type': 'application/x-www-form-urlencoded',
    });
  return { stage, page, formsOn, send };
}

describe.each(ONE_DATABASE)('the pages of plans of a mirror in %s', (_name, open) => {
  test('show a plan cell by cell; another person approves it, applies it and plans the way back', async () => {
    const session = await open();
    const { page, formsOn, send } = await serving(session);
    expect(await page('/plans', 'Ada')).toContain('None yet.');
    await storePlan(session, 1);
    expect(await page('/plans', 'Ada')).toMatch(/href="\/plans\/1">1<.*clients.*open.*clients\.csv.*Ada/);

    const shown = await page('/plans/1', 'Ada');
    expect(shown).toMatch(
      /\/records\/clients\/1" title="clients 1"[^>]*>C-1 · Old 1<.*client 1<.*<del>Old 1<\/del> → <ins>&lt;b&gt;New 1/,
    );
    expect(shown).toMatch(/Row 3: .*record 999 is &lt;gone&gt;/);
    expect(await formsOn('/plans/1', 'Ada')).toEqual(['/plans/1/withdraw']);
    expect(await page('/', 'Ada')).not.toContain('Plan 1 waits for approval');
    expect(await page('/', 'Marie')).toMatch(/Plan 1 waits for approval.*Ada wants to change 1 record of/);
    expect(await page('/', 'Marie', { 'accept-language': 'fr' })).toContain('La correction 1 attend');

    expect(await formsOn('/plans/1', 'Marie')).toEqual(['/plans/1/approve', '/plans/1/reject']);
    const approved = await send('/plans/1/approve', 'Marie', '/plans/1');
    expect(approved.headers.get('location')).toBe('/plans/1?done=plans%20approve');
    expect(await page('/plans/1?done=plans%20approve', 'Ada')).toContain(
      'Approved: the plan can be applied.',
    );
    expect(await page('/deletions?done=deletions%20approve', 'Ada')).toContain('Approved: each record');
    expect(await page('/', 'Marie')).not.toContain('waits for approval');

    expect(await formsOn('/plans/1', 'Ada')).toEqual(['/plans/1/apply', '/plans/1/withdraw']);
    expect(await page('/plans/1', 'Ada')).toContain('1 record will be changed. Continue?');
    expect((await send('/plans/1/apply', 'Ada', '/plans/1')).status).toBe(303);
    const applied = await page('/plans/1', 'Ada');
    expect(applied).toMatch(/outbox\?state=ready">ready<.*href="\/outbox\/1">1<\/a> .*ready/);
    expect(applied).toContain('no bms-sync serve is running with writes on');
    expect(applied).toContain('href="/v1/plans/1/result.csv"');
    expect(await page('/outbox/1', 'Ada')).toMatch(/Pushed by<\/dt> <dd>Ada</);
    expect(await formsOn('/plans/1', 'Marie')).toEqual(['/plans/1/undo']);
    const undone = await send('/plans/1/undo', 'Marie', '/plans/1');
    expect(undone.headers.get('location')).toBe('/plans/2?done=plans%20undo');
    const back = await page('/plans/2?done=plans%20undo', 'Marie');
    expect(back).toContain('its entry 1 is ready');
    expect(back).toContain('It changes nothing: there is nothing to apply.');
    expect(await formsOn('/plans/2', 'Marie')).toEqual(['/plans/2/withdraw']);
  });
});

describe.each(ONE_DATABASE)('the pages of plans of a mirror in %s', (_name, open) => {
  test('show thousands of rows page by page, soon, and say why a plan is stale', async () => {
    const session = await open();
    const { page } = await serving(session);
    const id = await storePlan(session, 5000);
    const seen: number[] = [];
    for (let path: string | undefined = `/plans/${id}`; path !== undefined && seen.length < 200;) {
      const shown = await page(path, 'Ada');
      seen.push(...[...shown.matchAll(/id="row-(\d+)"/g)].map(([, n]) => Number(n)));
      path = /rel="next" href="([^"]+)"/.exec(shown)?.[1];
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 2));
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '7', _raw: '{"id":7,"name":"Other"}' }]),
    );
    const stale = await page(`/plans/${id}`, 'Marie');
    expect(stale).toContain('Name of record 7: &quot;Old 7&quot; is now &quot;Other&quot;.');
    expect(stale).not.toMatch(/\/(?:approve|apply)"/);
    expect(stale).toContain('<strong aria-current="step">Export again, and make a new plan.</strong>');
  });

  test('name a plan behind three own ones, and in the status, while it can be approved', async () => {
    const session = await open();
    const { stage, page, send } = await serving(session);
    for (const author of ['Ada', 'Marie', 'Marie', 'Marie']) await storePlan(session, 1, author);
    const waiting = async (): Promise<readonly string[]> => {
      const status = (await (await stage.get('/v1/status')).json()) as { needs: { command: string }[] };
      return status.needs.map(({ command }) => command).filter((command) => command.includes('approve'));
    };
    expect(await page('/', 'Marie')).toContain('Plan 1 waits for approval');
    expect(await page('/', 'Marie')).not.toContain('Plan 2 waits for approval');
    expect(await waiting()).toEqual(['4', '3', '2'].map((id) => `bms-sync approve ${id}`));
    await send('/plans/3/approve', 'Ada');
    expect(await waiting()).toEqual(['4', '2', '1'].map((id) => `bms-sync approve ${id}`));
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '1', _raw: '{"id":1,"name":"Other"}' }]),
    );
    expect(await waiting()).toEqual([]);
  });

  test('ask for the reason of a rejection, and show who rejected a plan and why', async () => {
    const session = await open();
    const { stage, page, formsOn, send } = await serving(session);
    await storePlan(session, 1);
    expect(await page('/plans/1', 'Marie')).toMatch(
      /action="\/plans\/1\/reject".*name="reason"[^>]*required/,
    );
    expect((await send('/plans/1/reject', 'Marie')).status).toBe(400);
    const headers = { authorization: 'Bearer of-Marie', 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await stage.post('/plans/1/reject', 'reason=Wrong+<prices>&back=/plans/1', headers);
    expect(sent.headers.get('location')).toBe('/plans/1?done=plans%20reject');
    const shown = await page('/plans/1?done=plans%20reject', 'Ada');
    expect(shown).toContain('Rejected: the plan can no longer be applied.');
    expect(shown).toMatch(/Marie.*Wrong &lt;prices&gt;/);
    expect(await formsOn('/plans/1', 'Ada')).toEqual([]);
    expect(await page('/plans', 'Ada')).toMatch(/state bad">rejected</);
    expect(await page('/', 'Marie')).not.toContain('waits for approval');
  });

  test('show the next step as a field or a page, where the command line has an option or a command', async () => {
    const session = await open();
    const { page, send } = await serving(session);
    const row = { position: 2, operation: 'update', recordId: null, cells: '[]' } as const;
    const refusal = 'no record has code "A"; to create one, add --create';
    const head = { kind: 'clients', origin: 'clients.csv', createdBy: 'Ada', createdAt: NOON_TEXT };
    await session.atomically((tx) => insertPlan(tx, head, [{ ...row, refusal }]));
    const own = 'create records from rows without an id or a match';
    expect(await page('/plans/1', 'Ada')).toMatch(new RegExp(`add <a [^>]*href="/plans">${own}</a>`));
    await storePlan(session, 1);
    const refused = await (await send('/plans/2/approve', 'Ada', '/plans/2')).text();
    expect(refused).toMatch(/That user approves it: <a [^>]*href="\/plans\/2">Plan 2<\/a>/);
    expect(refused).toContain('<a href="/plans/2">Back</a>');
  });

  test('need nobody else where the settings ask for no approval', async () => {
    const session = await open();
    const { page, formsOn } = await serving(session, 0);
    await storePlan(session, 2);
    expect(await formsOn('/plans/1', 'Ada')).toEqual(['/plans/1/apply', '/plans/1/withdraw']);
    expect(await page('/plans/1', 'Ada')).toContain('2 records will be changed. Continue?');
    await session.atomically((tx) =>
      tx.write(sql`
        insert into plan_rows (plan_id, position, operation, cells)
        values (1, 9, 'create', ${cells('null', 'New')})`),
    );
    expect(await page('/plans/1', 'Ada')).toContain(
      '2 records will be changed. 1 record will be created, which no undo takes back. Continue?',
    );
    expect(await page('/', 'Marie')).not.toContain('waits for approval');
  });
});
