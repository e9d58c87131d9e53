import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { describedRoutes, serveMirror } from '../http/stage.ts';

const doc = readFileSync(join(import.meta.dirname, '../../docs/http-api.md'), 'utf8');

test('the documentation of the API lists every route, and no other', async () => {
  const routes = describedRoutes(await serveMirror(await tempMirror(TWO_KINDS)));
  const section = doc.slice(doc.indexOf('\n## Every route'));
  const listed = [...section.matchAll(/`((?:GET|POST) \/[^`]*)`/g)].map(([, route]) => route);
  expect(listed.toSorted()).toEqual(routes.toSorted());
});
