import { expect, test } from 'vitest';
import { dropMeta, readMeta, writeMeta } from '../../../src/mirror/kinds/meta.ts';
import { tempMirror } from '../temp-mirror.ts';

test('a fact is null until it is written, then what was written last, and null again once dropped', async () => {
  const session = await tempMirror();
  const key = 'outbox.sends';
  expect(await readMeta(session, key)).toBeNull();
  for (const value of ['7', '', `it's "8"`]) {
    await session.atomically((tx) => writeMeta(tx, key, value));
    expect(await readMeta(session, key)).toBe(value);
  }
  await session.atomically((tx) => dropMeta(tx, key));
  expect(await readMeta(session, key)).toBeNull();
});

test('facts do not disturb each other', async () => {
  const session = await tempMirror();
  const [version, layout] = [await readMeta(session, 'version'), await readMeta(session, 'layout')];
  await session.atomically((tx) => writeMeta(tx, 'source.base_url', 'https://a.example'));
  await session.atomically((tx) => dropMeta(tx, 'source.base_url'));
  expect([await readMeta(session, 'version'), await readMeta(session, 'layout')]).toEqual([version, layout]);
  expect(version).toMatch(/^\d+$/);
  expect(layout).toMatch(/^[0-9a-f]{64}$/);
});
