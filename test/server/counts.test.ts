import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createActivity, createRowCounts } from '../../src/server/counts.ts';
import type { Session, Queryable } from '../../src/mirror/session/session.ts';
import { putChanges } from '../feed/support.ts';
import { DATABASES } from '../mirror/databases.ts';
import { NOON, NOON_TEXT, putRecords } from '../mirror/temp-mirror.ts';
import { memoryLog } from '../jobs/support.ts';

const put = (session: Session, kind: string, count: number): Promise<void> =>
  putChanges(
    session,
    ...Array.from({ length: count }, () => ({
      ...{ kind, record_id: '1', change: 'updated', observed_at: NOON_TEXT },
    })),
  );

const sums = (hours: ReadonlyMap<string, readonly number[]> | null): unknown =>
  hours === null
    ? null
    : Object.fromEntries([...hours].map(([kind, counts]) => [kind, counts.reduce((all, n) => all + n, 0)]));

describe.each(DATABASES)('change events an hour of a mirror in %s', (_name, open) => {
  test('are counted before the answer where they are few, each once, whoever asks at the same time', async () => {
    const session = await open();
    const activity = createActivity({ session, logger: memoryLog().logger, atOnce: 10 });
    await put(session, 'clients', 7);
    const answers = await Promise.all([activity.read(NOON), activity.read(NOON), activity.read(NOON)]);
    expect(answers.map(sums)).toEqual([{ clients: 7 }, { clients: 7 }, { clients: 7 }]);
    await put(session, 'products', 2);
    const hours = await activity.read(NOON);
    expect(sums(hours)).toEqual({ clients: 7, products: 2 });
    expect(hours?.get('products')?.at(-1)).toBe(2);
    expect(hours?.get('products')).toHaveLength(48);
  });

  test('are not known until all were counted beside the answers, where they are many', async () => {
    const session = await open();
    const activity = createActivity({ session, logger: memoryLog().logger, atOnce: 10 });
    await put(session, 'clients', 35);
    expect(await activity.read(NOON)).toBeNull();
    let hours = await activity.read(NOON);
    while (hours === null) {
      await yieldToEventLoop();
      hours = await activity.read(NOON);
    }
    expect(sums(hours)).toEqual({ clients: 35 });
  });
});

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
