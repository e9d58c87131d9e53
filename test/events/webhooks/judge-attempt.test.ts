import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { judgeAttempt, judgeHealth, type SentAttempt } from '../../../src/events/webhooks/judge-attempt.ts';
import { parseInstant, formatInstant } from '../../../src/lib/time/clock.ts';
import { NOON, later } from '../../store/temp-mirror.ts';

const { retrySeconds } = loadConfig({ env: {} }).webhooks;
const MINUTE = 60;
const HOUR = 3_600;
const DAY_MS = 86_400_000;

const attemptOf = (status: number | null, at = NOON, retryAfterMs: number | null = null): SentAttempt => ({
  at,
  status,
  retryAfterMs,
  error: status === null ? 'timeout' : null,
  responseStart: null,
  durationMs: 5,
});

const HEALTHY = { state: 'active', failures: 0, failingSince: null, failingToldAt: null } as const;

test('the waits are those of Standard Webhooks; then the delivery is given up', () => {
  const hours = [2, 5, 10, 14, 20, 24].map((each) => each * HOUR);
  expect(retrySeconds).toEqual([5, 5 * MINUTE, 30 * MINUTE, ...hours]);
  for (const [attempts, seconds] of retrySeconds.entries())
    expect(judgeAttempt(attempts, attemptOf(500), { retrySeconds, random: 0 })).toEqual({
      state: 'ready',
      attempts: attempts + 1,
      nextAttemptAt: formatInstant(later(seconds * 1000)),
    });
  const last = judgeAttempt(retrySeconds.length, attemptOf(500), { retrySeconds, random: 0 });
  expect(last).toEqual({ state: 'failed', attempts: retrySeconds.length + 1, nextAttemptAt: null });
});

test('only 2xx is taken; a retry is never earlier than its wait or what the receiver asks for, and a tenth later at most', () => {
  const status = fc.option(fc.integer({ min: 100, max: 599 }));
  const asked = fc.option(fc.nat(200_000_000));
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.nat(12), status, asked, random, (attempts, code, retryAfterMs, jitter) => {
      const attempt = attemptOf(code, NOON, retryAfterMs);
      const outcome = judgeAttempt(attempts, attempt, { retrySeconds, random: jitter });
      expect(outcome.attempts).toBe(attempts + 1);
      expect(outcome.state === 'delivered').toBe(code !== null && code >= 200 && code <= 299);
      if (outcome.state !== 'ready') expect(outcome.nextAttemptAt).toBeNull();
      if (outcome.nextAttemptAt === null) return;
      const waitMs = parseInstant(outcome.nextAttemptAt).getTime() - NOON.getTime();
      const leastMs = Math.max((retrySeconds[attempts] ?? 0) * 1000, retryAfterMs ?? 0);
      expect(waitMs).toBeGreaterThanOrEqual(leastMs);
      expect(waitMs).toBeLessThanOrEqual(
        Math.max((retrySeconds[attempts] ?? 0) * 1100, retryAfterMs ?? 0) + 1,
      );
    }),
  );
});

test('an endpoint is told to fail once after five seconds, disabled after five days or by 410, and told to be back', () => {
  const first = judgeHealth(HEALTHY, attemptOf(null), false);
  expect(first).toMatchObject({
    transition: null,
    patch: { failures: 1, failingSince: formatInstant(NOON) },
  });
  const failing = judgeHealth({ ...HEALTHY, ...first.patch }, attemptOf(500, later(5_000)), false);
  expect(failing).toMatchObject({ transition: 'failing', patch: { failures: 2 } });
  const known = { ...HEALTHY, ...failing.patch };
  expect(judgeHealth(known, attemptOf(500, later(60_000)), true).transition).toBeNull();
  expect(judgeHealth(known, attemptOf(500, later(5 * DAY_MS - 1)), false).transition).toBeNull();
  expect(judgeHealth(known, attemptOf(500, later(5 * DAY_MS)), false)).toMatchObject({
    transition: 'disabled',
    patch: { state: 'disabled', disabledReason: 'failing' },
  });
  expect(judgeHealth(HEALTHY, attemptOf(410), false)).toMatchObject({
    transition: 'disabled',
    patch: { state: 'disabled', disabledReason: 'gone' },
  });
  expect(judgeHealth(known, attemptOf(204, later(60_000)), false)).toMatchObject({
    transition: 'back',
    patch: { failures: 0, failingSince: null, failingToldAt: null },
  });
  expect(judgeHealth(HEALTHY, attemptOf(204), false).transition).toBeNull();
});
