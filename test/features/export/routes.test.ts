import { describe, expect, test } from 'vitest';
import { readSheet } from '../../../src/features/plans/sheet/read-sheet.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { deleteUser, insertUser } from '../../../src/store/users/user-store.ts';
import { canary } from '../../support/canary.ts';
import { jsonOf, serveMirror } from '../../http/stage.ts';
import { ONE_DATABASE } from '../../store/databases.ts';
import { putRecords } from '../../store/temp-mirror.ts';

const MARIE = `marie-${canary('-2b8e4d6f1a9c7350')}`;

const putClient = (session: Session): Promise<void> =>
  session.atomically((tx) =>
    putRecords(tx, 'clients', [
      {
        id: '17',
        code: '00017',
        name: 'Zoé',
        credit: '1.10',
        ...(session.dialect === 'sqlite' && { credit_real: 1.1 }),
        _raw: '{"id":17,"code":"00017","name":"Zoé","credit":"1.10"}',
      },
    ]),
  );

describe.each(ONE_DATABASE)('the export of a mirror in %s', (_name, open) => {
  test.each([
    ['csv', 'text/csv; charset=utf-8', 'bi_clients.csv', /,00017,/],
    ['excel', 'text/csv; charset=utf-8', 'bi_clients.csv', /;"\t00017";.*;1,1/],
    ['ndjson', 'application/x-ndjson; charset=utf-8', 'bi_clients.ndjson', /"code":"00017".*"credit":1\.1/],
  ])('as %s is a file with its name and type', async (format, type, name, row) => {
    const session = await open();
    await putClient(session);
    const { get } = await serveMirror(session);
    const answer = await get(`/v1/export/clients?format=${format}`);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    expect(await answer.text()).toMatch(row);
  });

  test('as a workbook can be edited and uploaded', async () => {
    const session = await open();
    await putClient(session);
    const { get } = await serveMirror(session);
    const bytes = new Uint8Array(await (await get('/v1/export/clients?format=xlsx')).arrayBuffer());
    const { columns, rows } = await readSheet('clients.xlsx', bytes);
    expect(columns).toContain('_version');
    expect(rows[0]?.cells.get(columns.indexOf('Code'))?.text).toBe('00017');
  });

  test.each(['csv', 'ndjson', 'xlsx'])(
    'as %s carries the remark on a past state in a header',
    async (format) => {
      const session = await open();
      await putClient(session);
      const { get } = await serveMirror(session);
      const remarkOf = async (query: string) =>
        (await get(`/v1/export/clients?format=${format}${query}`)).headers.get('bms-sync-remark');
      expect(await remarkOf('')).toBeNull();
      const now = new Date().toISOString();
      expect(await remarkOf(`&asOf=${now}`)).toMatch(/not known whole at that instant .* missing\.$/);
      expect(await remarkOf(`&asOf=${now.slice(0, -1)}`)).toMatch(
        /^As of 20.* \(schedules\.timezone\)\. The list of /,
      );
    },
  );

  test.each(['csv', 'xlsx'])('as %s breaks off once its user is removed', async (format) => {
    const session = await open();
    await putClient(session);
    let isRemoved = false;
    const query: Session['query'] = async (select) => {
      const rows = await session.query(select);
      if (isRemoved || !rows.some((row) => Object.values(row).includes('00017'))) return rows;
      isRemoved = true;
      await session.atomically((tx) => deleteUser(tx, 'Marie'));
      return rows;
    };
    const { url } = await serveMirror({ ...session, query });
    await session.atomically((tx) => insertUser(tx, { name: 'Marie', role: 'viewer', token: MARIE }));
    const headers = { authorization: `Bearer ${MARIE}` };
    const content = fetch(`${url}/v1/export/clients?format=${format}`, { headers }).then(async (answer) =>
      answer.ok ? await answer.text() : Promise.reject(new Error(`answered ${answer.status}`)),
    );
    await expect(content).rejects.toThrow();
    expect(isRemoved).toBe(true);
  });

  test('is of views and kinds alone', async () => {
    const { get } = await serveMirror(await open());
    for (const name of ['users', 'outbox', 'webhook_endpoints', 'sqlite_master', 'bi_nothing', 'pg_authid']) {
      const answer = await get(`/v1/export/${name}`);
      expect([answer.status, await jsonOf(answer)]).toEqual([
        400,
        expect.objectContaining({ code: 'usage.view' }),
      ]);
    }
    expect((await get('/v1/export/bi_changes?format=pdf')).status).toBe(400);
  });
});
