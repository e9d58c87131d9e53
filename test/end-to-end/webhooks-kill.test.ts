import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addEndpoint } from '../../src/events/webhooks/endpoints.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { putChanges } from '../events/support.ts';
import { startReceiver, verified, type EventBody, type Received } from '../events/webhooks/receiver.ts';
import { tempFolder } from '../support/temp-folder.ts';
import type { Env } from '../support/command-line.ts';
import { start } from '../support/program.ts';
import { copyMirror } from '../support/sqlite-templates.ts';
import { sized } from '../support/tiers.ts';
import { serving } from './outbound-scene.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const EVENTS = sized({ quick: 80, acceptance: 2_000, deep: 2_000 });
const KILLS = sized({ quick: 2, acceptance: 20, deep: 20 });
const RECORDS = Math.ceil(EVENTS / 8);
const FAILURES = 0.3;

const env = (url: string): Env => ({
  DATABASE_URL: url,
  BMS_BASE_URL: 'http://127.0.0.1:9',
  BMS_TOKEN: 'none',
  BMS__SCHEDULES__ALL: 'null',
  BMS__FRESHNESS__REQUESTS_PER_MINUTE: 'null',
  BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]',
  BMS__WEBHOOKS__RETRY_SECONDS: JSON.stringify(Array(40).fill(0.2)),
});

async function commit(session: Session, from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  const observed_at = formatInstant(new Date());
  const changes = numbers.map((number) => ({
    record_id: String((number % RECORDS) + 1),
    change: 'updated',
    observed_at,
    before: `{"n":${number}.10}`,
    after: `{"n":${number}.20}`,
    fields: '{"n":[1.10,1.20]}',
  }));
  await putChanges(session, ...changes);
}

test(`${EVENTS} events reach a receiver that fails at times, each at least once and in order, while serve is killed ${KILLS} times (I06, I07, I11)`, async () => {
  const path = `${tempFolder()}/mirror.db`;
  await copyMirror(path, KINDS);
  await using session = await openSession(`file:${path}`);
  const random = randomNumbers(20_260_301);
  const receiver = await startReceiver(() => ({ status: random() < FAILURES ? 500 : 204 }));
  const wish = { name: 'erp', url: receiver.url, kinds: null, changes: null, fields: null };
  const { secret } = await addEndpoint(
    session,
    { ...wish, format: 'json' },
    { allowHosts: ['127.0.0.1'], now: new Date() },
  );

  const each = Math.ceil(EVENTS / (KILLS + 1));
  for (let round = 0; round <= KILLS; round += 1) {
    const program = start(['serve', '--only', 'webhooks'], { env: env(`file:${path}`) });
    await serving(program);
    const before = receiver.requests.length;
    await commit(session, round * each, Math.min(each, EVENTS - round * each));
    if (round === KILLS) {
      await allTaken(receiver.taken);
      program.child.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0 });
    } else {
      while (receiver.requests.length <= before + (each * random()) / 2) await pause(2);
      program.child.kill('SIGKILL');
      await program.ended;
    }
  }

  const events = receiver.requests.map((request) => verified(request, secret));
  expect(new Set(events.map(({ data }) => data.seq)).size).toBe(EVENTS);
  expect(idsBySeq(receiver.requests)).toBe(EVENTS);
  expect(outOfOrder(receiver.taken)).toEqual([]);
  console.log('FIGURE', { events: EVENTS, kills: KILLS, requests: receiver.requests.length });
});

const bodyOf = ({ body }: Received): EventBody => JSON.parse(body) as EventBody;

async function allTaken(taken: readonly Received[]): Promise<void> {
  const seqs = (): number => new Set(taken.map((request) => bodyOf(request).data.seq)).size;
  while (seqs() < EVENTS) await pause(100);
}

/** How many pairs of a webhook id and an event there were. */
const idsBySeq = (requests: readonly Received[]): number =>
  new Set(requests.map((request) => `${request.id} ${bodyOf(request).data.seq}`)).size;

/** Events that were taken after a later one of their record. */
function outOfOrder(taken: readonly Received[]): readonly number[] {
  const latest = new Map<string, number>();
  return taken.map(bodyOf).flatMap(({ data: { recordId, seq } }) => {
    const before = latest.get(recordId) ?? 0;
    latest.set(recordId, Math.max(before, seq));
    return seq < before ? [seq] : [];
  });
}
