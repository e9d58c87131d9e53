import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readSheet } from '../../src/outbound/plans/read-sheet.ts';
import type { Session } from '../../src/db/session/session.ts';
import { jsonOf, serveMirror } from '../http/stage.ts';
import { DATABASES } from '../store/databases.ts';
import { putRecords } from '../store/temp-mirror.ts';

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

const exportsLeft = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('bms-sync-export-'));

describe.each(DATABASES)('the export of a mirror in %s', (_name, open) => {
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

  test('as a workbook can be edited and uploaded, and leaves no file behind', async () => {
    const session = await open();
    await putClient(session);
    const { get } = await serveMirror(session);
    const before = exportsLeft();
    const bytes = new Uint8Array(await (await get('/v1/export/clients?format=xlsx')).arrayBuffer());
    const { columns, rows } = await readSheet('clients.xlsx', bytes);
    expect(columns).toContain('_version');
    expect(rows[0]?.cells.get(columns.indexOf('code'))?.text).toBe('00017');
    await expect.poll(exportsLeft).toEqual(before);
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
