import { expect, test } from 'vitest';
import { packageVersion } from '../../src/lib/package-folder.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { jsonOf, serveMirror } from '../http/stage.ts';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

test('the description has what each route takes, what it answers, and how it refuses', async () => {
  const { get } = await serveMirror(await tempMirror([kindNamed('clients')]), { kinds: KINDS });
  const document = await jsonOf(await get('/openapi.json'));
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'bms-sync', version: packageVersion() },
  });
  const paths = document['paths'] as Record<string, Record<string, Operation>>;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { summary, responses }] of Object.entries(methods))
      expect([path, method, typeof summary, Object.keys(responses['default']?.content ?? {})]).toEqual([
        path,
        method,
        'string',
        ['application/problem+json'],
      ]);
  expect(paths['/v1/outbox']?.['post']).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({ in: 'header', name: 'idempotency-key', required: true }),
    ]) as unknown,
    requestBody: { required: true },
  });
  expect(paths['/v1/runs']?.['get']?.parameters).toContainEqual(
    expect.objectContaining({
      in: 'query',
      name: 'after',
      required: false,
      schema: expect.objectContaining({ type: 'integer', minimum: 0 }) as unknown,
    }),
  );
  expect(paths['/v1/outbox/{id}/abandon']?.['post']).not.toHaveProperty('requestBody');
  expect(paths['/v1/outbox/{id}/retry']?.['post']).toHaveProperty('requestBody');
  const routes = Object.values(paths).flatMap((methods) => Object.values(methods));
  const ids = routes.map((route) => route.operationId ?? '');
  expect(ids.filter((id) => !/^[a-z]\w+$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  const open = ['/health', '/ready', '/metrics', '/openapi.json'];
  expect(Object.keys(paths).filter((path) => !path.startsWith('/v1/') && !open.includes(path))).toEqual([]);
  expect(JSON.stringify(paths['/v1/changes'])).toContain(JSON.stringify(KINDS.map(({ name }) => name)));
});

test('records and what is pushed have the fields of the catalogue, by the names of a read and of a write', async () => {
  const { get } = await serveMirror(await tempMirror([kindNamed('clients')]), { kinds: KINDS });
  const { paths, components } = await jsonOf(await get('/openapi.json'));
  const { schemas } = components as { schemas: Record<string, { properties?: object; anyOf?: object[] }> };
  expect(schemas['clients']?.properties).toMatchObject({
    code: { type: ['string', 'null'] },
    adresse2: { type: ['string', 'null'] },
    credit: { type: ['number', 'string', 'null'] },
  });
  expect(schemas['clients_data']?.properties).toMatchObject({ address2: { type: ['string', 'null'] } });
  expect(schemas['Record']?.anyOf).toHaveLength(KINDS.length);
  const push = (paths as Record<string, Record<string, { requestBody: object }>>)['/v1/outbox']?.['post'];
  expect(JSON.stringify(push?.requestBody)).toContain('"$ref":"#/components/schemas/Data"');
  const refs = JSON.stringify({ paths, components }).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  expect([...refs].map(([, name = '']) => name).filter((name) => !(name in schemas))).toEqual([]);
});
