import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { SeenType } from '../../src/diff/field-type.ts';
import { readFields, saveFields } from '../../src/mirror/field-store.ts';
import { NOON, NOON_TEXT, later, tempMirror } from './temp-mirror.ts';

test('fields are remembered by kind, and a wider type replaces the narrower one', async () => {
  const session = await tempMirror();
  const save = (kind: string, types: Record<string, SeenType>, now = NOON): Promise<void> =>
    session.atomically((tx) => saveFields(tx, kind, { types: new Map(Object.entries(types)), now }));
  expect(await readFields(session, 'clients')).toEqual(new Map());

  await save('clients', { mood: 'integer', nothing: 'none' });
  await save('products', { mood: 'date' });
  await save('clients', { mood: 'text' }, later(60_000));
  await save('clients', {});
  expect(await readFields(session, 'clients')).toEqual(
    new Map([
      ['mood', 'text'],
      ['nothing', 'none'],
    ]),
  );
  expect(await readFields(session, 'products')).toEqual(new Map([['mood', 'date']]));
  const [row] = await session.query(
    sql`select first_seen_at from fields where kind = 'clients' and field = 'mood'`,
  );
  expect(row).toEqual({ first_seen_at: NOON_TEXT });
});

test('C12, G17: a field may be called anything', async () => {
  const session = await tempMirror();
  const names = [
    '__proto__',
    'constructor',
    'toString',
    `it's "so"; drop table fields; --`,
    '',
    '🧾',
    'x'.repeat(5000),
  ];
  const types = new Map(names.map((name) => [name, 'text' as const]));
  await session.atomically((tx) => saveFields(tx, 'clients', { types, now: NOON }));
  expect(await readFields(session, 'clients')).toEqual(types);
});
