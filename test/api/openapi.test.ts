import { expect, test } from 'vitest';
import { packageVersion } from '../../src/lib/package-folder.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { jsonOf, serveMirror } from '../http/stage.ts';

interface Operation {
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
        ['application/problem+json', 'text/html'],
      ]);
  expect(paths['/v1/outbox']?.['post']).toMatchObject({
    parameters: [{ in: 'header', name: 'idempotency-key', required: true, schema: { type: 'string' } }],
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
  expect(JSON.stringify(paths['/v1/changes'])).toContain(JSON.stringify(KINDS.map(({ name }) => name)));
});
