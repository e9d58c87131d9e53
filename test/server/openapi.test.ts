import { expect, test } from 'vitest';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { jsonOf, serveMirror } from './stage.ts';
import { saveFields } from '../../src/mirror/kinds/field-store.ts';
import { KINDS, LISTED_KINDS } from '../../src/catalog/catalog.ts';

type Node = Readonly<Record<string, unknown>>;

function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' ? [String(member)] : refsIn(member),
  );
}

const at = (document: unknown, path: string): unknown =>
  path.split('/').slice(1).reduce((node, name) => (node as Node | undefined)?.[name], document); // prettier-ignore

test('the description has every route, what it takes and what it answers', async () => {
  const { app, get } = await serveMirror(await tempMirror([kindNamed('clients')]));
  const document = await jsonOf(await get('/openapi.json'));
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'bms-sync', version: '1.2.3' } });
  const paths = document['paths'] as Record<string, Record<string, Node>>;
  const operationOf = (url: string, method: unknown): Node =>
    paths[url.replace(/:(\w+)/g, '{$1}')]?.[String(method).toLowerCase()] ?? {};
  for (const { method, url, config } of app.routes) {
    const isTold = config?.allow === undefined && method !== 'HEAD';
    const operation = operationOf(url, method);
    expect([method, url, 'summary' in operation]).toEqual([method, url, isTold]);
    if (isTold) expect(operation['responses']).toHaveProperty('default');
  }
  for (const ref of refsIn(document)) expect([ref, at(document, ref)]).toEqual([ref, expect.any(Object)]);
  expect(paths['/v1/outbox']?.['post']).toMatchObject({
    parameters: [{ in: 'header', name: 'idempotency-key', required: true, schema: { type: 'string' } }],
    requestBody: { required: true },
  });
  expect(paths['/v1/changes']?.['get']?.['parameters']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: 'wait',
        required: false,
        schema: expect.objectContaining({ type: 'integer', maximum: 60 }) as unknown,
      }),
    ]),
  );
});

/** The description as clients read it, its references resolved. */
async function paths(): Promise<Record<string, Record<string, Node>>> {
  const { get } = await serveMirror(await tempMirror([kindNamed('clients')]), { kinds: KINDS });
  return (await jsonOf(await get('/openapi.json')))['paths'] as Record<string, Record<string, Node>>;
}

test('the description names the fields that the service has sent by then', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  const { get } = await serveMirror(session, { kinds: KINDS });
  const fieldsOf = async (): Promise<string[]> => {
    const fields = at(await jsonOf(await get('/openapi.json')), '#/components/schemas/Fields_clients');
    return (fields as { anyOf: { properties: object }[] }).anyOf.flatMap(({ properties }) =>
      Object.keys(properties),
    );
  };
  expect(await fieldsOf()).toEqual(expect.arrayContaining(['adresse2', 'address2']));
  expect(await fieldsOf()).not.toContain('vip');
  const fields = new Map([['vip', { type: 'integer', fitsHint: true, wire: 'number' }]] as const);
  await session.atomically((tx) => saveFields(tx, kindNamed('clients'), { fields, now: new Date() }));
  expect(await fieldsOf()).toContain('vip');
});

test('the description names the kinds that each path takes', async () => {
  const all = KINDS.map(({ name }) => name);
  const described = await paths();
  for (const path of ['/v1/records/{kind}/{id}', '/v1/changes'])
    expect(described[path]?.['get']?.['parameters']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'kind', schema: expect.objectContaining({ enum: all }) as unknown }),
      ]),
    );
  expect(JSON.stringify(described['/v1/pulls'])).toContain(
    JSON.stringify(LISTED_KINDS.map(({ name }) => name)),
  );
});

test('the description has every status by which a route refuses, and what is sent then', async () => {
  const described = await paths();
  const responses = (path: string, method: string): Node =>
    (described[path]?.[method]?.['responses'] ?? {}) as Node;
  const EVERYWHERE = ['400', '403', '421', '500', '503', 'default'];
  expect(Object.keys(responses('/health', 'get')).sort()).toEqual(['200', ...EVERYWHERE]);
  expect(Object.keys(responses('/v1/outbox', 'post'))).toEqual(
    expect.arrayContaining([...EVERYWHERE, '200', '202', '401', '408', '409', '413', '415', '422', '429']),
  );
  expect(Object.keys(responses('/v1/outbox/{id}/adopt', 'post'))).toContain('404');
  const refusals = Object.entries(described).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses: all }]) =>
      Object.entries(all as Record<string, { content?: Node }>)
        .filter(([status]) => status === 'default' || Number(status) >= 400)
        .map(([status, { content }]) => [path, method, status, Object.keys(content ?? {})[0]]),
    ),
  );
  for (const refusal of refusals) expect(refusal[3]).toBe('application/problem+json');
  expect(Object.keys((responses('/login', 'get')['200'] as { content: Node }).content)).toEqual([
    'text/html',
  ]);
});

test('the description says which bodies are needed, and in which forms', async () => {
  const described = await paths();
  const bodyOf = (path: string): unknown => described[path]?.['post']?.['requestBody'];
  expect(bodyOf('/v1/outbox')).toMatchObject({ required: true });
  expect(bodyOf('/v1/outbox/{id}/adopt')).toMatchObject({ required: true });
  expect(bodyOf('/v1/pulls')).toMatchObject({ required: false });
  expect(bodyOf('/v1/outbox/resume')).toBeUndefined();
  expect(Object.keys((bodyOf('/login') as { content: Node }).content)).toEqual([
    'application/json',
    'application/x-www-form-urlencoded',
  ]);
});
