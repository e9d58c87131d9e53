import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Json } from '../../src/lib/json/json.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { mirror, pullFrom, sandbox } from '../pull/support.ts';
import { postgresMirror } from './support.ts';

const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', mirror],
  ['PostgreSQL', async () => (await postgresMirror()).session],
];

const named = (...names: readonly string[]): readonly ListedKind[] =>
  LISTED_KINDS.filter(({ name }) => names.includes(name));

const pull = (service: Sandbox, session: Session, ...names: readonly string[]) =>
  pullFrom(service, session, { request: { kinds: named(...names) } });

const REFERENCES = KINDS.flatMap((kind) =>
  [...kind.fields, ...kind.hints].flatMap(({ name, refersTo }) =>
    refersTo === undefined || kind.list === null ? [] : [[kind.name, name, refersTo] as const],
  ),
);

test('the catalogue knows what these fields refer to', () => {
  expect(REFERENCES).toEqual(
    expect.arrayContaining([
      ['projects', 'client_id', 'clients'],
      ['purchase_products', 'product_id', 'products'],
      ['products', 'category_id', 'categories'],
      ['products', 'origin_product_id', 'products'],
      ['products', 'provider_id', 'providers'],
      ['bookings', 'client_id', 'clients'],
    ]),
  );
});

describe.each(DATABASES)('%s', (_name, open) => {
  test('every reference joins with the kind that it names, through the views', async () => {
    const service = await sandbox({ size: 40 });
    const session = await open();
    await pullFrom(service, session);
    for (const [kind, field, target] of REFERENCES) {
      const rows = await session.query(sql`
        select l.id from ${sql.identifier(`bi_${kind}`)} l
        join ${sql.identifier(`bi_${target}`)} p on p.id = l.${sql.identifier(field)}`);
      expect([kind, field, rows.length > 0]).toEqual([kind, field, true]);
    }
    const lines = await session.query(
      sql`select l.id from bi_purchase_products l join bi_products p on p.id = l.product_id`,
    );
    expect(lines).toHaveLength(service.world.count('purchase_products'));
    const tasks = await session.query(
      sql`select t.id from bi_projects_tasks t join bi_projects p on p.id = t.projet_id`,
    );
    expect(tasks.length).toBeGreaterThan(0);
  });

  test('what is no id is null with an issue, and its text stands at the end of the view', async () => {
    const service = await sandbox({ size: 40 });
    const session = await open();
    await pull(service, session, 'purchase_products');
    const ids = [...service.world.ids('purchase_products')].sort((a, b) => a - b);
    const sent: readonly Json[] = ['007', 'ABC', '', 0, '0', 12, null];
    sent.forEach((product_id, at) => {
      service.world.update('purchase_products', ids[at] ?? 0, { product_id });
    });

    const { kinds } = await pull(service, session, 'purchase_products');

    expect(kinds).toMatchObject([{ state: 'certified', updated: sent.length }]);
    const rows = await session.query(sql`
      select product_id, product_id_text from bi_purchase_products order by bi_purchase_products.id limit 7`);
    expect(rows).toEqual([
      { product_id: null, product_id_text: '007' },
      { product_id: null, product_id_text: 'ABC' },
      ...[null, 0, 0, 12, null].map((product_id): Row => ({ product_id, product_id_text: null })),
    ]);
    const columns = await session.atomically((tx) => tx.columnsOf('bi_purchase_products'));
    expect([...columns].at(-1)).toBe('product_id_text');
    expect(
      await session.query(sql`select field, code, detail from issues where closed_at is null order by id`),
    ).toEqual(['"007"', '"ABC"'].map((detail) => ({ field: 'product_id', code: 'not_an_integer', detail })));
  });
});
