import { MESSAGES } from '../../../src/feature-hooks.ts';
import { sql } from 'drizzle-orm';
import { onTestFinished } from 'vitest';
import { addEndpoint, type RevealedSecret } from '../../../src/events/webhooks/endpoints.ts';
import { createSender, type SendingRules } from '../../../src/events/webhooks/sender.ts';
import { createWebhookQueue } from '../../../src/events/webhooks/webhook-queue.ts';
import { systemClock, type Clock } from '../../../src/lib/time/clock.ts';
import type { WorkQueue } from '../../../src/lib/work-queue.ts';
import type { Row, Session } from '../../../src/db/session/session.ts';
import type { EndpointInput } from '../../../src/events/webhooks/endpoint-store.ts';
import { memoryLog, type Log } from '../../runs/engine/support.ts';
import { mirrorIn, putChanges, type DATABASES, type StoredChange } from '../support.ts';

export const ALLOWED = ['127.0.0.1'];

/** Settings under which nothing but receivers on this machine is sent to. */
export const SENDING: SendingRules = {
  allowHosts: ALLOWED,
  mail: { url: null, from: null },
  messages: MESSAGES,
  publicUrl: null,
  language: 'en',
  timezone: 'UTC',
};

/** The owner name of the process under test. */
export const OWNER = 'here';

export interface DeliveryStage {
  readonly session: Session;
  readonly queue: WorkQueue;
  readonly log: Log;
  /** Moves the clock on. */
  readonly pass: (ms: number) => void;
  readonly now: () => Date;
  readonly add: (wish: Partial<EndpointInput> & { readonly url: string }) => Promise<RevealedSecret>;
  readonly put: (
    ...changes: readonly (Partial<StoredChange> & { readonly record_id: string })[]
  ) => Promise<void>;
  /** Works whatever is due, until nothing is. */
  readonly deliver: () => Promise<void>;
  readonly deliveries: () => Promise<Row[]>;
}

export interface StageOptions {
  readonly retrySeconds?: readonly number[];
  readonly attemptMs?: number;
  readonly stopping?: AbortSignal;
  readonly rules?: SendingRules;
  /** Where the clock stands; now, because signatures are good for five minutes only. */
  readonly at?: Date;
}

/** A mirror with the delivery of webhooks, worked by hand. */
export async function deliveryStage(
  database: (typeof DATABASES)[number],
  options: StageOptions = {},
): Promise<DeliveryStage> {
  return deliveryStageOn((await mirrorIn(database)).session, options);
}

/** The same on an open mirror. */
export function deliveryStageOn(
  session: Session,
  {
    retrySeconds = [5, 300],
    attemptMs = 60_000, // A loaded machine may take seconds.
    stopping,
    rules = SENDING,
    at = new Date(),
  }: StageOptions = {},
): DeliveryStage {
  const log = memoryLog();
  let nowMs = at.getTime();
  const clock: Clock = { ...systemClock, now: () => new Date(nowMs) };
  const sender = createSender(clock, rules, attemptMs);
  onTestFinished(() => sender[Symbol.asyncDispose]());
  const process = { session, clock, logger: log.logger, owner: OWNER };
  const delivery = { retrySeconds, reader: rules, random: () => 0 };
  const queue = createWebhookQueue(process, sender, delivery, stopping ?? new AbortController().signal);
  const deliver = async (): Promise<void> => {
    for (let due = await queue.due(100); due.length > 0; due = await queue.due(100))
      await Promise.all(due.map((ref) => queue.work(ref, new AbortController().signal)));
  };
  return {
    session,
    queue,
    log,
    deliver,
    pass: (ms) => {
      nowMs += ms;
    },
    now: () => clock.now(),
    add: (wish) => {
      const all = { kinds: null, changes: null, fields: null, format: 'json' as const };
      return addEndpoint(
        session,
        { name: 'erp', ...all, ...wish },
        { allowHosts: ALLOWED, now: clock.now() },
      );
    },
    put: (...changes) =>
      putChanges(
        session,
        ...changes.map((change) => ({
          change: 'updated',
          observed_at: '2026-03-01 12:00:00.000',
          ...change,
        })),
      ),
    deliveries: () =>
      session.query(sql`
        select webhook_id, type, seq, record_id, state, attempts, status, error, response_start, next_attempt_at
        from webhook_deliveries order by id`),
  };
}
