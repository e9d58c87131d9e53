import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createActivity } from '../../src/server/activity.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { putChanges } from '../feed/support.ts';
import { DATABASES } from '../mirror/databases.ts';
import { NOON, NOON_TEXT } from '../mirror/temp-mirror.ts';
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
