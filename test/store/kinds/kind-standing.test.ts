import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { jumpTick, readTick } from '../../../src/store/kinds/kind-standing.ts';
import { DATABASES } from '../databases.ts';

const leap = (session: Session, kind = 'clients'): Promise<number> =>
  session.atomically((tx) => jumpTick(tx, kind));

describe.each(DATABASES)('ticks in %s', (_name, open) => {
  test('begin at 0, and leap further than any sweep counts between two landings', async () => {
    const session = await open();
    expect(await readTick(session, 'clients')).toBe(0);
    expect(await leap(session)).toBe(1_000_000);
    expect(await leap(session)).toBe(2_000_000);
    expect(await readTick(session, 'clients')).toBe(2_000_000);
    expect(await readTick(session, 'products')).toBe(0);
  });

  test('leap from where a sweep has counted to, and leave the rest of its state alone', async () => {
    const session = await open();
    await session.atomically((tx) =>
      tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch) values ('clients', 17, 'certified', 3, 4)`),
    );
    expect(await leap(session)).toBe(1_000_017);
    const [row] = await session.query(sql`select state, complete_sweeps, epoch from kind_state`);
    expect(row).toEqual({ state: 'certified', complete_sweeps: 3, epoch: 4 });
  });

  test('of many leaps at once are all different', async () => {
    const session = await open();
    const ticks = await Promise.all(Array.from({ length: 8 }, () => leap(session)));
    expect(new Set(ticks).size).toBe(8);
  });
});
