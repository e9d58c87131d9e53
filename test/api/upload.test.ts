import { createConnection } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UPLOAD_BYTES } from '../../src/http/upload-limit.ts';
import type { Session } from '../../src/db/session/session.ts';
import { jsonOf, serveMirror, signIn, TOKEN, type Stage } from '../http/stage.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { putRecords } from '../store/temp-mirror.ts';

async function serveClient(session: Session): Promise<Stage> {
  await session.atomically((tx) =>
    putRecords(tx, 'clients', [
      { id: '17', code: 'C-17', name: 'Zoé', _raw: '{"id":17,"code":"C-17","name":"Zoé"}' },
    ]),
  );
  return serveMirror(session);
}

const exported = async ({ get }: Stage): Promise<string> => (await get('/v1/export/clients')).text();

const upload = (stage: Stage, body: string | Uint8Array<ArrayBuffer>, query = ''): Promise<Response> =>
  fetch(`${stage.url}/v1/plans${query}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' },
  });

/** Sends the form of the page, as a browser does. */
async function submit(stage: Stage, fields: Readonly<Record<string, string | File>>): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const headers = { cookie: await signIn(stage), origin: stage.url };
  return fetch(`${stage.url}/plans`, { method: 'POST', body: form, headers, redirect: 'manual' });
}

describe.each(ONE_DATABASE)('an edited export, uploaded to a mirror in %s', (_name, open) => {
  test('becomes a plan, by the API and by the form', async () => {
    const stage = await serveClient(await open());
    const edited = (await exported(stage)).replace('Zoé', 'Zénobie');
    const answer = await upload(stage, edited, '?name=corrected.csv');
    expect([answer.status, await jsonOf(answer)]).toEqual([
      201,
      expect.objectContaining({ id: 1, state: 'open', origin: 'corrected.csv', createdBy: 'admin' }),
    ]);
    const sent = await submit(stage, { file: new File([edited], 'C:\\fakepath/other.csv') });
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/plans/2']);
    expect(await jsonOf(await stage.get('/v1/plans/2'))).toMatchObject({
      origin: 'other.csv',
      rows: [{ recordId: '17', cells: [{ field: 'name', old: 'Zoé', new: 'Zénobie' }] }],
    });
  });

  test('creates records from rows without an id only where that is wanted', async () => {
    const stage = await serveClient(await open());
    const [head = ''] = (await exported(stage)).split('\r\n');
    const columns = head.split(',');
    const cells = columns.map((name) => (name === 'code' ? 'C-18' : name === 'name' ? 'Ida' : ''));
    const sheet = `${head}\r\n${cells.join(',')}\r\n`;
    expect(await jsonOf(await upload(stage, sheet))).toMatchObject({ counts: { creates: 0, refusals: 1 } });
    const allowed = await upload(stage, sheet, '?create=true');
    expect(await jsonOf(allowed)).toMatchObject({ counts: { creates: 1, refusals: 0 } });
    const sent = await submit(stage, { create: 'yes', file: new File([sheet], 'new.csv') });
    expect(await jsonOf(await stage.get(`/v1${sent.headers.get('location') ?? ''}`))).toMatchObject({
      counts: { creates: 1, refusals: 0 },
    });
  });
});

describe.each(ONE_DATABASE)('an upload to a mirror in %s', (_name, open) => {
  test('without a difference, a table or a file makes no plan', async () => {
    const stage = await serveClient(await open());
    const refusals = [
      await upload(stage, await exported(stage)),
      await upload(stage, ''),
      await upload(stage, 'PK\u0003\u0004 not a workbook'),
      await submit(stage, {}),
      await submit(stage, { file: new File([], '') }),
      await submit(stage, { file: new File(['\0\0\0'], 'sheet.csv') }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([422, 400, 400, 400, 400, 400]);
    expect(await jsonOf(await stage.get('/v1/plans'))).toEqual({ plans: [] });
  });

  test('that is refused returns to its form, with the reason', async () => {
    const stage = await serveClient(await open());
    const sheet = new File(['id,phone\n17,5\n'], 'clients.csv');
    const refused = await submit(stage, { kind: 'products', match: '', file: sheet });
    const page = (await refused.text()).replaceAll(/\s+/g, ' ');
    expect(refused.status).toBe(400);
    expect(page).toContain('differ: products, clients.');
    expect(page).toMatch(/<form [^>]*action="\/plans".*<option value="clients".*name="file"/);
    const planned = await submit(stage, {
      kind: '',
      match: 'code',
      file: new File(['code,name\nC-17,Ida\n'], 'clients.csv'),
    });
    expect(await jsonOf(await stage.get(`/v1${planned.headers.get('location') ?? ''}`))).toMatchObject({
      rows: [{ refusal: 'the list of clients is not certified: bms-sync pull clients' }],
    });
  });

  test('beyond the limit is refused, and so is a second file', async () => {
    const stage = await serveClient(await open());
    const large = new Uint8Array(UPLOAD_BYTES + 1).fill(65);
    expect((await upload(stage, large)).status).toBe(413);
    expect((await submit(stage, { file: new File([large], 'large.csv') })).status).toBe(413);
    const edited = (await exported(stage)).replace('Zoé', 'Zénobie');
    const twice = await submit(stage, {
      file: new File([edited], 'one.csv'),
      more: new File([edited], 'two.csv'),
    });
    expect([303, 413]).toContain(twice.status);
    expect(await jsonOf(await stage.get('/v1/status'))).toBeDefined();
  });

  test('may be one of three that a user has under way, so that others find a place', async () => {
    const stage = await serveClient(await open());
    const { token } = (await jsonOf(await stage.post('/v1/users', { name: 'otto', role: 'operator' }))) as {
      token: string;
    };
    const { hostname, port } = new URL(stage.url);
    const head = `POST /v1/plans HTTP/1.1\r\nhost: ${stage.host}\r\nauthorization: Bearer ${token}\r\ncontent-type: text/csv\r\n`;
    const stalled = Array.from({ length: 8 }, () => {
      const socket = createConnection({ host: hostname, port: Number(port) });
      onTestFinished(() => void socket.destroy());
      socket.write(`${head}content-length: 10000000\r\n\r\nid`);
      return new Promise<string>((resolve) =>
        socket.once('data', (data) => {
          resolve(data.toString());
        }),
      );
    });
    const refused = new Set<string>();
    for (const answer of stalled) void answer.then((text) => refused.add(text.slice(0, 12)));
    await Promise.any(stalled);
    expect([...refused]).toEqual(['HTTP/1.1 503']);
    const edited = (await exported(stage)).replace('Zoé', 'Zénobie');
    expect((await upload(stage, edited)).status).toBe(201);
  });
});
