import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempMirror } from '../mirror/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { serveMirror } from './stage.ts';

const doc = readFileSync(join(import.meta.dirname, '../../docs/http-api.md'), 'utf8');

test('the documentation of the API lists every route, and no other', async () => {
  const { app } = await serveMirror(await tempMirror(TWO_KINDS));
  const own = app.routes.filter(({ config }) => config?.allow === undefined); // The others answer 405.
  const routes = own.flatMap(({ method, url }) =>
    [method].flat().map((name) => `${name} ${url.replace(/:(\w+)/g, '{$1}')}`),
  );
  const section = doc.slice(doc.indexOf('\n## Every route'));
  const listed = [...section.matchAll(/`((?:GET|POST) \/[^`]*)`/g)].map(([, route]) => route);
  expect(listed.toSorted()).toEqual(routes.filter((route) => !route.startsWith('HEAD ')).toSorted());
});
