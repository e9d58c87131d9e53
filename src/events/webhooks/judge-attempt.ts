import { jitterMs } from '../../lib/time/backoff.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import type { Delivery } from './delivery-queue.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';

/** How one request to a receiver ended. */
export interface SentAttempt {
  readonly at: Date;
  /** The HTTP or SMTP status; null = there was no answer. */
  readonly status: number | null;
  /** A stable code, where there was no answer. */
  readonly error: string | null;
  readonly responseStart: string | null;
  /** The pause that the receiver asks for, or the pause between letters. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
}

export const isAccepted = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** How much later than its time an attempt may come. */
const LATEST = 1.1;

/**
 * Decides the state of a delivery after an attempt. A disabled endpoint's delivery waits for a person.
 * @param rules The seconds between two attempts: after the last one the delivery is given up. `random` is from 0 to 1.
 */
export function judgeAttempt(
  attempts: number,
  attempt: SentAttempt,
  { retrySeconds, random }: { readonly retrySeconds: readonly number[]; readonly random: number },
): Pick<Delivery, 'state' | 'attempts' | 'nextAttemptAt'> {
  const ended = { attempts: attempts + 1, nextAttemptAt: null };
  if (isAccepted(attempt.status)) return { ...ended, state: 'delivered' };
  const seconds = retrySeconds[attempts];
  if (seconds === undefined) return { ...ended, state: 'failed' };
  const leastMs = seconds * 1000;
  const waitMs = Math.max(jitterMs(leastMs, leastMs * LATEST, random), attempt.retryAfterMs ?? 0);
  const nextAttemptAt = formatInstant(new Date(attempt.at.getTime() + waitMs));
  return { ...ended, state: 'ready', nextAttemptAt };
}

/** An endpoint is reported as failing once nothing has succeeded for this time. */
const FAILING_AFTER_MS = 5_000;

/** An endpoint that has accepted nothing for this time is disabled. */
const DISABLED_AFTER_MS = 5 * 86_400_000;

/** The status of a receiver that wants nothing any more. */
const GONE = 410;

type Health = Pick<WebhookEndpoint, 'state' | 'failures' | 'failingSince' | 'failingToldAt'>;

export interface HealthStep {
  readonly patch: Partial<WebhookEndpoint>;
  /** The change to log. */
  readonly transition: 'failing' | 'back' | 'disabled' | null;
}

/** Judges an endpoint by the end of an attempt. @param isGivenUp Whether it was the last attempt of its delivery. */
export function judgeHealth(health: Health, attempt: SentAttempt, isGivenUp: boolean): HealthStep {
  if (!isAccepted(attempt.status)) return healthAfterFailure(health, attempt, isGivenUp);
  const healthy = { failures: 0, failingSince: null, failingToldAt: null };
  const patch = { ...healthy, notBefore: pauseUntil(attempt), deliveredAt: formatInstant(attempt.at) };
  return { patch, transition: health.failingToldAt === null ? null : 'back' };
}

function healthAfterFailure(health: Health, attempt: SentAttempt, isGivenUp: boolean): HealthStep {
  const { state, failingToldAt } = health;
  const at = formatInstant(attempt.at);
  const failures = health.failures + 1;
  const failingSince = health.failingSince ?? at;
  const failingMs = attempt.at.getTime() - parseInstant(failingSince).getTime();
  const patch = { failures, failingSince, failingToldAt, notBefore: pauseUntil(attempt) };
  const reported = { ...patch, failingToldAt: failingToldAt ?? at };
  const longFailure = failingMs >= DISABLED_AFTER_MS ? ('failing' as const) : null;
  const disabledReason = attempt.status === GONE ? 'gone' : longFailure;
  if (state === 'active' && disabledReason !== null)
    return { patch: { ...reported, state: 'disabled', disabledReason }, transition: 'disabled' };
  const isFailing = isGivenUp || (failures > 1 && failingMs >= FAILING_AFTER_MS);
  if (state === 'disabled' || !isFailing || failingToldAt !== null) return { patch, transition: null };
  return { patch: reported, transition: 'failing' };
}

const pauseUntil = (attempt: SentAttempt): string | null =>
  attempt.retryAfterMs === null ? null : formatInstant(new Date(attempt.at.getTime() + attempt.retryAfterMs));
