import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { createFaultLog } from '../../lib/log/fault-log.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { repeat } from '../../lib/log/repeat.ts';
import { instantOf, instantText, sleepUnlessStopped, type Clock } from '../../lib/time/clock.ts';
import { isAway } from '../../db/session/errors.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { assign, hasRow, insertInto, readNumber, select, selectOne } from '../../db/rows/rows.ts';
import { isServed } from '../../store/runs/worker-store.ts';
import { WEBHOOK_DELIVERIES } from '../../store/tables/webhook-tables.ts';
import type { Delivery } from '../../store/webhooks/delivery-queue.ts';
import { readEndpoints, readSecrets, type WebhookEndpoint } from '../../store/webhooks/endpoint-store.ts';
import { webhookIdOf } from '../../store/webhooks/news.ts';
import { writeNews } from './choose-sends.ts';
import { attemptColumns } from './endpoint-pass.ts';
import { requireEndpoint } from './endpoints.ts';
import { isTaken } from './judge-attempt.ts';
import { TEST_TYPE } from './news-text.ts';
import { ATTEMPT_MS, createSender, type Sender, type SendingRules } from './sender.ts';

interface TestParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

/** How a test of an endpoint ended; the schema of its operation says what each member means. */
export type EndpointTest = Awaited<ReturnType<typeof testEndpoint>>;

const TAKEN_UP_MS = 5_000;
const LOOK_MS = 1_000;

/**
 * Sends an endpoint one event of type `webhook.test`, once; the delivery log has it. The background service that would send its
 * events does it, because its network and its settings are what counts; this process does where none takes it up.
 *
 * @throws {SyncError} `webhooks.absent`.
 */
export async function testEndpoint(parts: TestParts, rules: SendingRules, name: string) {
  const { session, clock, isDead } = parts;
  const endpoint = await requireEndpoint(session, name);
  const now = clock.now();
  const webhookId = webhookIdOf(endpoint.publicId, [TEST_TYPE, randomUUID()]);
  const id = await session.atomically((tx) => askForTest(tx, endpoint, { webhookId, now }));
  if (await isServed(session, 'webhooks', { now, isDead }))
    await follow(parts, id, TAKEN_UP_MS, ({ state }) => state !== 'waiting');
  const isOurs = await session.atomically((tx) => claimTest(tx, id));
  await using sender = createSender(clock, rules);
  if (isOurs) await sendTest({ ...parts, sender, rules }, id);
  const sent = await follow(parts, id, ATTEMPT_MS + TAKEN_UP_MS, ({ attemptedAt }) => attemptedAt !== null);
  const byService = !isOurs;
  if (sent === null || sent.attemptedAt === null) return { name, webhookId, ...UNSENT, byService };
  const { state, status, error, responseStart, durationMs } = sent;
  const delivered = state === 'delivered';
  return { name, webhookId, delivered, status, error, responseStart, durationMs: durationMs ?? 0, byService };
}

/** The end of a test whose process has not told how it ended. */
const UNSENT = { delivered: false, status: null, error: 'interrupted', responseStart: null, durationMs: 0 };

/** Reads the row of a test until it is as wanted, for so long at most. */
async function follow(
  { session, clock, signal }: TestParts,
  id: number,
  ms: number,
  isWanted: (test: Delivery) => boolean,
): Promise<Delivery | null> {
  const startMs = clock.monotonicMs();
  for (;;) {
    const test = await selectOne(session, WEBHOOK_DELIVERIES, sql`where id = ${id}`);
    const isOver = signal.aborted || clock.monotonicMs() - startMs >= ms;
    if (test === null || isWanted(test) || isOver) return test;
    await sleepUnlessStopped(LOOK_MS / 5, { clock, signal });
  }
}

/** Waiting, and due all the same: no other delivery is both, so that nothing else takes it for its own. */
async function askForTest(
  tx: Transaction,
  endpoint: WebhookEndpoint,
  { webhookId, now }: { readonly webhookId: string; readonly now: Date },
): Promise<number> {
  const at = instantText(now);
  const row = insertInto(WEBHOOK_DELIVERIES, {
    endpointId: endpoint.id,
    webhookId,
    type: TEST_TYPE,
    body: JSON.stringify({
      type: TEST_TYPE,
      timestamp: now.toISOString(),
      data: { endpoint: endpoint.name },
    }),
    state: 'waiting',
    nextAttemptAt: at,
    createdAt: at,
  });
  return (await readNumber(tx, sql`${row} returning id`)) ?? 0;
}

/** Whoever takes it out of its state sends it; it counts as failed until its outcome is known. */
const claimTest = (tx: Transaction, id: number): Promise<boolean> =>
  hasRow(
    tx,
    sql`update webhook_deliveries set state = 'failed', next_attempt_at = null
      where id = ${id} and state = 'waiting' returning id`,
  );

interface SendingParts extends Omit<TestParts, 'isDead'> {
  readonly sender: Sender;
  readonly rules: SendingRules;
}

async function sendTest({ session, clock, signal, sender, rules }: SendingParts, id: number): Promise<void> {
  const test = await selectOne(session, WEBHOOK_DELIVERIES, sql`where id = ${id}`);
  const [endpoint] = await readEndpoints(session, sql`where id = ${test?.endpointId ?? 0}`);
  if (test === null || endpoint === undefined) return; // It was removed.
  const secrets = await readSecrets(session, endpoint.id, clock.now());
  const content = await writeNews(session, [test.body ?? '{}'], endpoint, rules);
  const attempt = await sender.send({ ...content, endpoint, webhookId: test.webhookId, secrets }, signal);
  const state = isTaken(attempt.status) ? ('delivered' as const) : ('failed' as const);
  const set = assign(WEBHOOK_DELIVERIES, { state, attempts: 1, ...attemptColumns(attempt) });
  await session.atomically((tx) => tx.query(sql`update webhook_deliveries set ${set} where id = ${id}`));
}

const FORGOTTEN_MS = 60_000;

/** Sends the test events that other processes ask for. Returns a function that stops it. */
export function startTests(parts: SendingParts & { readonly logger: Logger }): () => Promise<void> {
  const { session, clock } = parts;
  const task = async (): Promise<void> => {
    const now = clock.now();
    const asked = sql`
      where endpoint_id in (select id from webhook_endpoints) and state = 'waiting'
        and next_attempt_at <= ${instantText(now)} order by id`;
    for (const { id, createdAt } of await select(session, WEBHOOK_DELIVERIES, asked)) {
      const isAwaited = now.getTime() - instantOf(createdAt).getTime() < FORGOTTEN_MS;
      if ((await session.atomically((tx) => claimTest(tx, id))) && isAwaited) await sendTest(parts, id);
    }
  };
  const faults = createFaultLog({ ...parts, isTold: isAway });
  return repeat({ clock, faults, everyMs: LOOK_MS, name: 'sending test events', task }).stop;
}
