import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import { mirror, pullFrom, sandbox } from '../pull/support.ts';
import { bystander } from '../support/postgres.ts';
import { postgresMirror } from './support.ts';

const PRODUCTS = { request: { kinds: LISTED_KINDS.filter(({ name }) => name === 'products') } };

/** The value of a column that the analyst's own view has, and of one that only the second pull can know. */
const analystView = 'create view analyst as select id, code, price_exact from bi_products';

async function columns(session: Session): Promise<ReadonlySet<string>> {
  return session.atomically((tx) => tx.listColumns('bi_products'));
}

test('PostgreSQL: a reader in a long transaction and a pull that adds columns do not hold each other up', async () => {
  const service = await sandbox();
  const { session, url } = await postgresMirror();
  await pullFrom(service, session, PRODUCTS);
  const reader = await bystander(url);
  await reader.query(analystView);
  await reader.query('begin');
  const { rows: before } = await reader.query<{ id: string }>('select * from analyst order by id');
  service.world.update('products', service.world.ids('products')[0] ?? 0, { shelf: 'B12' });

  const held = await pullFrom(service, session, PRODUCTS);
  expect(held.kinds).toMatchObject([{ state: 'certified', updated: 1 }]);
  expect(await columns(session)).not.toContain('shelf');
  expect((await reader.query('select * from analyst order by id')).rows).toEqual(before);
  await reader.query('commit');

  await pullFrom(service, session, PRODUCTS);
  expect(await columns(session)).toContain('shelf');
  expect(await session.query(sql`select shelf from bi_products where shelf is not null`)).toEqual([
    { shelf: 'B12' },
  ]);
  expect((await reader.query('select * from analyst order by id')).rows).toEqual(before);
});

test('SQLite: an analyst’s view goes on working while columns are added', async () => {
  const service = await sandbox();
  const session = await mirror();
  await pullFrom(service, session, PRODUCTS);
  await session.atomically((tx) => tx.execute(analystView));
  const before = await session.query(sql`select * from analyst order by id`);
  service.world.update('products', service.world.ids('products')[0] ?? 0, { shelf: 'B12' });

  await pullFrom(service, session, PRODUCTS);

  expect(await columns(session)).toContain('shelf');
  expect(await session.query(sql`select * from analyst order by id`)).toEqual(before);
});
