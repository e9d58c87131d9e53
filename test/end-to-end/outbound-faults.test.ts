import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { instantText } from '../../src/lib/time/clock.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import { run } from '../support/command-line.ts';
import { sized } from '../support/tiers.ts';
import { requestNumber } from '../support/requests.ts';
import { atRest, expectExact, tally, watchStandstill } from './outbound-ledger.ts';
import {
  creates,
  insert,
  push,
  redisFor,
  scattered,
  serveBeside,
  setScene,
  updates,
} from './outbound-scene.ts';
import type { Scene } from './outbound-scene.ts';

const COUNT = sized({ quick: 40, acceptance: 1_000, deep: 5_000 });
/** So few that each is updated several times: only then is there an order to keep. */
const RECORDS = Math.min(300, COUNT * 0.3);

/** What befalls a write, each in turn; a late arrival comes after our time is up, and before patience ends. */
const WRITE_DEEDS: readonly Fault['do'][] = [
  { drop: 'before' },
  { drop: 'after' },
  { statusAfter: 500 },
  { status: 429, retryAfter: '1' },
  { status: 422, body: '{"success":false,"message":"The code is not to our liking."}' },
  { commitAfterMs: 1_500 },
  { html: true },
  { cut: 40 },
  { status: 503, retryAfter: '1' },
  { commitAfterMs: 2_500 },
];

test(
  `${COUNT} creates and ${COUNT} updates through every fault: none doubled, none lost, each with its reason`,
  { timeout: 600_000 },
  async ({ onTestFinished }) => {
    const scene = await setScene(onTestFinished, { size: RECORDS });
    const { service, session } = scene;
    const redis = await redisFor(onTestFinished);
    service.setFaults([
      ...scattered({ kind: 'clients', method: 'POST' }, 8, WRITE_DEEDS),
      ...scattered({ kind: 'providers', method: 'POST' }, 8, WRITE_DEEDS),
      ...scattered({ method: 'PUT' }, 12, WRITE_DEEDS),
    ]);
    const wishes = [...creates('clients', COUNT / 2), ...creates('providers', COUNT / 2)];
    const changes = updates(scene, COUNT);
    const still = watchStandstill(onTestFinished, scene);
    await serveBeside(onTestFinished, { ...scene.env, QUEUE_URL: redis.url });
    const halfway = requestNumber(scene.gate, COUNT);
    await push(scene, wishes);
    await insert(scene, changes); // Who knows only the table says no base: such updates never conflict.
    await halfway;
    const shutAt = new Date();
    scene.gate.shut();
    await expect.poll(() => putBackSince(session, shutAt), { timeout: 20_000 }).toBeGreaterThan(4);
    await scene.gate.open();
    await atRest(scene);

    console.log('FIGURE faults', { longestMs: still.longest(), ...(await tally(session)) });
    await expectExact(scene, [...wishes, ...changes]);
    await expectInOrder(session);
    service.setFaults([]);
    expect(await run(['pull', 'clients', 'providers'], scene.env)).toMatchObject({ code: 0 });
    await expectMirrored(scene);
  },
);

/** How many entries found the service away. */
async function putBackSince(session: Session, since: Date): Promise<number> {
  const [row] = await session.query(sql`
    select count(*) as n from outbox
    where state = 'ready' and next_attempt_at is not null and updated_at > ${instantText(since)}`);
  return Number(row?.['n']);
}

/** The updates of a record were sent one after the other, in the order in which they were stored. */
async function expectInOrder(session: Session): Promise<void> {
  const sends = await session.query(sql`
    select o.record_id, o.id from outbox_attempts a join outbox o on o.id = a.outbox_id
    where o.operation = 'update' order by o.record_id, a.opened_at, o.id`);
  const overtaken = sends.filter((send, at) => {
    const before = sends[at - 1];
    return before?.['record_id'] === send['record_id'] && Number(before?.['id']) > Number(send['id']);
  });
  expect(overtaken).toEqual([]);
}

/** After the next sweep the mirror holds what the service has. */
async function expectMirrored({ session, service: { world } }: Scene): Promise<void> {
  for (const kind of ['clients', 'providers']) {
    const rows = await session.query(
      sql`select id, _raw from ${sql.identifier(kind)} where _deleted_at is null`,
    );
    const held = new Map(rows.map((row) => [Number(row['id']), row['_raw']]));
    expect(held.size).toBe(world.count(kind));
    const other = world.ids(kind).filter((id) => held.get(id) !== compactJson(world.get(kind, id) ?? null));
    expect(other).toEqual([]);
  }
}
