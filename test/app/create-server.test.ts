import { expect, test } from 'vitest';
import { tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { serveMirror } from '../http/stage.ts';

test('the framework has no lines of its own in the log: serve tells where it listens', async () => {
  const { log } = await serveMirror(await tempMirror(TWO_KINDS));
  expect(log).toEqual([]);
});
