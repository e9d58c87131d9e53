import { expect, test } from 'vitest';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { jsonOf, serveMirror } from './stage.ts';

type Node = Readonly<Record<string, unknown>>;

function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' ? [String(member)] : refsIn(member),
  );
}

const at = (document: unknown, path: string): unknown =>
  path.split('/').slice(1).reduce((node, name) => (node as Node | undefined)?.[name], document); // prettier-ignore

/** Pages are for people. */
const isPage = (url: string): boolean => url === '/';

test('the description has every route, what it takes and what it answers', async () => {
  const { app, get } = await serveMirror(await tempMirror([kindNamed('clients')]));
  const document = await jsonOf(await get('/openapi.json'));
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'bms-sync', version: '1.2.3' } });
  const paths = document['paths'] as Record<string, Record<string, Node>>;
  const operationOf = (url: string, method: unknown): Node =>
    paths[url.replace(/:(\w+)/g, '{$1}')]?.[String(method).toLowerCase()] ?? {};
  for (const { method, url, config } of app.routes) {
    const isTold = config?.allow === undefined && !isPage(url) && method !== 'HEAD';
    const operation = operationOf(url, method);
    expect([method, url, 'summary' in operation]).toEqual([method, url, isTold]);
    if (isTold) expect(operation['responses']).toHaveProperty('default');
  }
  for (const ref of refsIn(document)) expect([ref, at(document, ref)]).toEqual([ref, expect.any(Object)]);
  expect(paths['/v1/outbox']?.['post']).toMatchObject({
    parameters: [{ in: 'header', name: 'idempotency-key', required: true, schema: { type: 'string' } }],
    requestBody: { content: { 'application/json': { schema: { required: ['operation', 'kind', 'data'] } } } },
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
