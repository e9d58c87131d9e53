import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/mirror/session/session.ts';
import { createRowCounts } from '../../src/server/row-counts.ts';
import { DATABASES } from '../mirror/databases.ts';
import { NOON_TEXT, putRecords } from '../mirror/temp-mirror.ts';
import { memoryLog } from '../jobs/support.ts';

const line = (kind: string, last_change_at: string | null = null) => ({
  ...{ kind, last_sweep_at: NOON_TEXT, last_change_at },
});

const ids = (...numbers: readonly number[]) => numbers.map((number) => ({ id: String(number) }));

describe.each(DATABASES)('rows of a mirror in %s', (_name, open) => {
  test('of a small kind are counted before the answer, once they may have changed', async () => {
    const session = await open();
    let statements = 0;
    const counted: Queryable = {
      query: (statement) => {
        statements += 1;
        return session.query(statement);
      },
    };
    const counts = createRowCounts({
      ...{ session: counted, clock: { monotonicMs: () => 0 }, logger: memoryLog().logger, most: 3 },
    });
    await session.atomically((tx) => putRecords(tx, 'clients', ids(1, 2)));
    expect(await counts.read([line('clients'), line('products')])).toEqual(
      new Map([
        ['clients', 2],
        ['products', 0],
      ]),
    );
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [...ids(3), { id: '4', _deleted_at: NOON_TEXT }]),
    );
    expect((await counts.read([line('clients'), line('products')])).get('clients')).toBe(2);
    expect(statements).toBe(1);
    expect((await counts.read([line('clients', NOON_TEXT), line('products')])).get('clients')).toBe(3);
    expect(statements).toBe(2);
  });

  test('of a large kind are counted beside the answers, and not with each event', async () => {
    const session = await open();
    let nowMs = 0;
    const waiting: Promise<unknown>[] = [];
    const watched: Queryable = {
      query: (statement) => {
        const rows = session.query(statement);
        waiting.push(rows);
        return rows;
      },
    };
    const counts = createRowCounts({
      ...{ session: watched, clock: { monotonicMs: () => nowMs }, logger: memoryLog().logger, most: 3 },
    });
    const settled = async (): Promise<void> => {
      await yieldToEventLoop();
      await Promise.all(waiting);
      await yieldToEventLoop();
    };
    await session.atomically((tx) => putRecords(tx, 'clients', ids(1, 2, 3, 4, 5)));
    expect(await counts.read([line('clients')])).toEqual(new Map());
    await settled();
    expect(await counts.read([line('clients')])).toEqual(new Map([['clients', 5]]));
    await session.atomically((tx) => putRecords(tx, 'clients', ids(6)));
    expect((await counts.read([line('clients', NOON_TEXT)])).get('clients')).toBe(5);
    await settled();
    expect(waiting).toHaveLength(2);
    nowMs = 10_000;
    await counts.read([line('clients', NOON_TEXT)]);
    await settled();
    expect((await counts.read([line('clients', NOON_TEXT)])).get('clients')).toBe(6);
  });
});
