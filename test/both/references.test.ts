import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Json } from '../../src/lib/json/json.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { openIssues } from '../../src/store/records/issue-store.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { MIRRORS } from '../pull/steps.ts';
import { pullFrom, sandbox } from '../pull/support.ts';

const named = (...names: readonly string[]): readonly ListedKind[] =>
  LISTED_KINDS.filter(({ name }) => names.includes(name));

const pull = (service: Sandbox, session: Session, ...names: readonly string[]) =>
  pullFrom(service, session, { request: { kinds: named(...names) } });

describe.each(Object.entries(MIRRORS))('%s', (_name, open) => {
  test('every row of bi_relations is a join, which finds the record that each value names', async () => {
    const session = await open();
    await pullFrom(await sandbox({ size: 40 }), session);
    const relations = await session.query(
      sql`select view, "column", to_view, to_column, none from bi_relations order by view, "column"`,
    );
    const found: string[] = [];
    for (const { view, column, to_view: toView, to_column: toColumn, none } of relations) {
      const [from, to] = [view, toView].map((name) => sql.identifier(String(name)));
      const [reference, id] = [column, toColumn].map((name) => sql.identifier(String(name)));
      const isNamed = sql`l.${reference} is not null and coalesce(cast(l.${reference} as text) <> ${none}, true)`;
      const [counts] = await session.query(sql`
        select count(*) as named, count(r.${id}) as joined
        from ${from} l left join ${to} r on r.${id} = l.${reference} where ${isNamed}`);
      expect({ view, column, ...counts }).toEqual({
        view,
        column,
        named: counts?.['joined'],
        joined: counts?.['named'],
      });
      if (Number(counts?.['joined']) > 0) found.push(`${String(view)}.${String(column)}`);
    }
    expect(found.sort()).toEqual(
      // prettier-ignore
      [
        'bi_bookings.client_id', 'bi_bookings_items.booking_id', 'bi_bookings_items.parent_id',
        'bi_categories_img_paths.parent_id', 'bi_clients_contacts.parent_id',
        'bi_departments_categories.category_id', 'bi_departments_categories.parent_id',
        'bi_products.category_id', 'bi_products.origin_product_id', 'bi_products.provider_id',
        'bi_products_medias.parent_id', 'bi_products_variantes.origin_product_id',
        'bi_products_variantes.parent_id', 'bi_projects.client_id', 'bi_projects_tasks.parent_id',
        'bi_projects_tasks.projet_id', 'bi_purchase_products.product_id',
        'bi_purchase_products.produit_projet_id', 'client_contacts.parent_id',
      ],
    );
  });

  test('a project is found whether the line has its id, its id as text, or the project', async () => {
    const service = await sandbox({ size: 40 });
    const session = await open();
    const [project = 0] = service.world.ids('projects');
    const sent: readonly Json[] = [
      project,
      String(project),
      { nom: 'x', id: project },
      { nom: 'x' },
      'P-1',
      null,
    ];
    const lines = [...service.world.ids('purchase_products')].sort((a, b) => a - b).slice(0, sent.length);
    lines.forEach((id, at) => {
      service.world.update('purchase_products', id, { produit_projet: sent[at] ?? null });
    });
    await pull(service, session, 'projects', 'purchase_products');
    const rows = await session.query(sql`
      select l.produit_projet_id as id, p.id as project from bi_purchase_products l
      left join bi_projects p on p.id = l.produit_projet_id order by l.id limit 6`);
    expect(rows.map(({ id }) => id)).toEqual([project, project, project, null, null, null]);
    expect(rows.map((row) => row['project'])).toEqual(rows.map(({ id }) => id));
  });

  test('the parts of a list of ids are rows, and a part that is no id is null with an issue', async () => {
    const service = await sandbox({ size: 40 });
    const session = await open();
    const [department = 0] = service.world.ids('departments');
    service.world.update('departments', department, { categories: '95, 96,,x' });
    await pull(service, session, 'departments');
    const links = await session.query(sql`
      select position, category_id from bi_departments_categories where parent_id = ${department} order by position`);
    expect(links).toEqual([
      { position: 0, category_id: 95 },
      { position: 1, category_id: 96 },
      { position: 2, category_id: null },
    ]);
    expect(await session.query(sql`select record_id, field, code from issues`)).toEqual([
      { record_id: String(department), field: 'categories[2].category_id', code: 'not_an_integer' },
    ]);
  });

  test('changes and issues join with their records, and an id that is no number of 64 bits is null', async () => {
    const service = await sandbox({ size: 40 });
    const session = await open();
    await pull(service, session, 'clients');
    const [client = 0] = service.world.ids('clients');
    service.world.update('clients', client, { phone: '555', creation_date: '2026-02-30' });
    await pull(service, session, 'clients');
    for (const view of ['bi_changes', 'bi_issues'])
      expect(
        await session.query(sql`
          select r.id from ${sql.identifier(view)} l join bi_clients r on r.id = l.record_id where l.kind = 'clients'`),
      ).toEqual([{ id: client }]);
    const ids = ['-9223372036854775808', '9223372036854775808', '007', '-0', '1x', '', null];
    const issues = ids.map((recordId) => ({ recordId, field: null, code: 'odd', detail: '' }));
    await session.atomically((tx) => openIssues(tx, 'clients', issues, new Date()));
    const shown = sql`select cast(record_id as text) as id from bi_issues where code = 'odd' order by 1 desc`;
    const found = (await session.query(shown)).map(({ id }) => id);
    expect(found.filter((id) => id !== null)).toEqual(['-9223372036854775808']);
    expect(found).toHaveLength(ids.length);
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
    const columns = await session.atomically((tx) => tx.listColumns('bi_purchase_products'));
    expect([...columns].at(-1)).toBe('product_id_text');
    expect(
      await session.query(sql`select field, code, detail from issues where closed_at is null order by id`),
    ).toEqual(['"007"', '"ABC"'].map((detail) => ({ field: 'product_id', code: 'not_an_integer', detail })));
  });
});
