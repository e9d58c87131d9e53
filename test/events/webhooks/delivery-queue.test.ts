import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import {
  readyDeliveries,
  writeOutcomes,
  endpointTables,
} from '../../../src/events/webhooks/delivery-queue.ts';
import { DATABASES } from '../../store/databases.ts';
import { kindNamed } from '../../store/temp-mirror.ts';

const now = new Date('2026-01-05T08:00:00.000Z');
const NEWS = sql`
  insert into webhook_deliveries (endpoint_id, webhook_id, type, kind, body, state, next_attempt_at, created_at)
  values (1, 'msg', 'entry.parked', 'clients', '{"code":"A","email":"a@example.test"}', 'ready',
    ${formatInstant(now)}, ${formatInstant(now)})`;

describe.each(DATABASES)('%s', (_name, open) => {
  test('a field that is excluded while a delivery is under way does not come back with its outcome', async () => {
    const session = await open();
    await session.atomically((tx) => tx.query(NEWS));
    const [inHand] = await readyDeliveries(session, 1, { except: [], now, limit: 10 });
    if (inHand === undefined) throw new Error('Nothing is due.');
    await session.atomically((tx) =>
      endpointTables.exclude(tx, excludeFields(kindNamed('clients'), ['email'])),
    );

    const outcome = { delivery: inHand, patch: { attempts: 1 } };
    await session.atomically((tx) => writeOutcomes(tx, [outcome], now));

    expect(await session.query(sql`select body, attempts from webhook_deliveries`)).toEqual([
      { body: '{"code":"A"}', attempts: 1 },
    ]);
  });
});
