import type { Logger } from '../../lib/log/logger.ts';
import { instantOf } from '../../lib/time/clock.ts';
import type { EndpointNews } from './endpoint-step.ts';

/** Tells in the log of an endpoint that fails, takes deliveries again, or was disabled. Its address may be a secret. */
export function tellEndpoint(logger: Logger, { tell, endpoint, attempt }: EndpointNews): void {
  const { name, failingSince, failures, disabledReason } = endpoint;
  const since = failingSince === null ? null : instantOf(failingSince).toISOString();
  const facts = { event: `webhook.${tell}`, endpoint: name };
  if (tell === 'back') {
    logger.info(facts, `the webhook endpoint ${name} takes deliveries again`);
    return;
  }
  const why = { since, failures, status: attempt.status, error: attempt.error };
  const answer = attempt.status === null ? `no answer (${attempt.error ?? ''})` : `HTTP ${attempt.status}`;
  if (tell === 'failing') {
    const hint = 'What it has missed is sent again later; bms-sync webhooks list shows what waits.';
    logger.warn({ ...facts, ...why, hint }, `the webhook endpoint ${name} takes no deliveries: ${answer}`);
    return;
  }
  const hint = `Mend the receiver, then: bms-sync webhooks replay ${name} --after SEQ.`;
  const reason = disabledReason === 'gone' ? 'it has answered 410 Gone' : 'it has failed for days';
  logger.warn(
    { ...facts, ...why, reason: disabledReason, hint },
    `the webhook endpoint ${name} is disabled: ${reason}`,
  );
}
