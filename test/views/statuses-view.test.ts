import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { SHOP_KINDS, read } from '../../scripts/reports/business.ts';
import type { Session } from '../../src/db/session/session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { readStatuses } from '../../src/views/statuses-view.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import { sandbox } from '../pull/support.ts';

const NOTHING = { sold: null, owed: null, bought: null };

describe.each(DATABASES)('%s', (database) => {
  test('each status that occurs counts as the settings have it, or alone where it is the only one', async () => {
    const service = await sandbox({ size: 20 });
    const { session } = await mirrorIn(database);
    await migrate(session, SHOP_KINDS);
    const reading = { known: SHOP_KINDS, kinds: ['sales', 'purchases', 'projects'] };
    expect(await countedIn(session)).toEqual({}); // No record of them yet.
    await read(service, [session], { ...reading, instant: '2026-03-01T08:00:00Z' });
    expect(await countedIn(session)).toMatchObject({ invoice: null, quote: null, ordered: null });

    const reports = { sold: ['invoice'], owed: ['invoice', 'credit'], bought: ['received', "in'voiced"] };
    expect(await migrate(session, SHOP_KINDS, { reports })).toBe(true);
    const counted = { invoice: 'sold, owed', quote: null, received: 'bought', ordered: null };
    expect(await countedIn(session)).toMatchObject(counted);
    expect(await migrate(session, SHOP_KINDS, { reports })).toBe(false);
    await migrate(session, SHOP_KINDS, {}); // Settings that name none keep them.
    expect(await countedIn(session)).toMatchObject(counted);

    const [first = 0, second = 0] = service.world.ids('sales');
    service.world.update('sales', first, { status: 'cancelled' });
    service.world.update('sales', second, { status: '' });
    await read(service, [session], { ...reading, instant: '2026-03-01T09:00:00Z' });
    expect(await countedIn(session)).toMatchObject({ ...counted, cancelled: null, none: null });
    const rows = (await readStatuses(session)).filter(({ kind }) => kind === 'sales');
    expect(rows.reduce((sum, { records }) => sum + records, 0)).toBe(service.world.ids('sales').length);

    await migrate(session, SHOP_KINDS, { reports: NOTHING });
    for (const id of service.world.ids('sales')) service.world.update('sales', id, { status: 'invoice' });
    await read(service, [session], { ...reading, instant: '2026-03-01T10:00:00Z' });
    expect(await countedIn(session)).toMatchObject({ invoice: 'sold, owed', received: null });
  });

  test('sales of a service that sends no status are counted under none', async () => {
    const service = await sandbox({ size: 20 });
    for (const id of service.world.ids('sales')) service.world.remove('sales', id);
    service.world.insert('sales', { total: '10.00' });
    const { session } = await mirrorIn(database);
    await migrate(session, SHOP_KINDS);
    await read(service, [session], { known: SHOP_KINDS, kinds: ['sales'], instant: '2026-03-01T08:00:00Z' });
    expect(await countedIn(session)).toEqual({ none: 'sold, owed' });
  });
});

/** What the statuses of sales and purchases count as. */
async function countedIn(session: Session): Promise<Record<string, unknown>> {
  const rows = await session.query(
    sql`select status, counts_as from bi_statuses where kind in ('sales', 'purchases')`,
  );
  return Object.fromEntries(rows.map((row) => [String(row['status']), row['counts_as'] ?? null]));
}
