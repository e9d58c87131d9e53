import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { sql } from 'drizzle-orm';
import { tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { serveMirror } from '../http/stage.ts';

test('the menu leads to every record kind, those without a list too', async () => {
  const kinds = KINDS.filter(({ name }) => ['clients', 'products', 'sales_products'].includes(name));
  const session = await tempMirror(TWO_KINDS);
  await session.atomically((tx) =>
    tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch)
      values ('clients', 1, 'certified', 1, 0), ('products', 1, 'certified', 1, 0)`),
  );
  const { get } = await serveMirror(session, { kinds });
  expect(await (await get('/')).text()).toMatch(/<nav[^]*href="\/kinds"[^]*<\/nav>/);
  const page = await (await get('/kinds')).text();
  for (const way of ['/kinds/clients', '/kinds/products', '/records/sales_products'])
    expect(page).toContain(`href="${way}"`);
});
