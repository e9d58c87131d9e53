import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readDrift, readListShape, saveDrift, saveListShape } from '../../../src/mirror/kinds/drift-store.ts';
import type { Drift } from '../../../src/mirror/kinds/drift-store.ts';
import { claimKind } from '../../../src/mirror/kinds/kind-lease.ts';
import { NOON, NOON_TEXT, later, tempMirror } from '../temp-mirror.ts';

const drift = (detail: string, field: string | null = 'mood'): Drift => ({
  kind: 'clients',
  code: 'new_field',
  field,
  detail,
});

test('changes are kept, and the latest are read newest first', async () => {
  const session = await tempMirror();
  expect(await readDrift(session, 10)).toEqual([]);
  await session.atomically((tx) => saveDrift(tx, [drift('1'), drift('2', null)], NOON));
  await session.atomically((tx) => saveDrift(tx, [], later(1)));
  await session.atomically((tx) => saveDrift(tx, [drift(`it's "3"`, '__proto__')], later(1)));

  const [third, second, first] = [
    { ...drift(`it's "3"`, '__proto__'), seenAt: '2026-03-01 12:00:00.001' },
    { ...drift('2', null), seenAt: NOON_TEXT },
    { ...drift('1'), seenAt: NOON_TEXT },
  ];
  expect(await readDrift(session, 10)).toEqual([third, second, first]);
  expect(await readDrift(session, 2)).toEqual([third, second]);
});

test('how a list is wrapped and paged is kept by kind', async () => {
  const session = await tempMirror();
  const unknown = { envelope: null, pageSize: null };
  expect(await readListShape(session, 'clients')).toEqual(unknown);
  for (const kind of ['clients', 'products'])
    await claimKind(session, { kind, owner: 'us', now: NOON, isDead: () => false });
  expect(await readListShape(session, 'clients')).toEqual(unknown);

  const shape = { envelope: 'data meta success', pageSize: 50 };
  await session.atomically((tx) => saveListShape(tx, 'clients', shape));
  expect(await readListShape(session, 'clients')).toEqual(shape);
  expect(await readListShape(session, 'products')).toEqual(unknown);
  await session.atomically((tx) => saveListShape(tx, 'clients', unknown));
  expect(await readListShape(session, 'clients')).toEqual(unknown);
  expect(await session.query(sql`select kind from kind_state order by kind`)).toHaveLength(2);
});
