import type { RouteHandlerMethod } from 'fastify';
import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { TIMED_OUT_RESULT, withTimeout } from '../lib/time/deadline.ts';
import { sweptKinds } from '../store/kinds/status-store.ts';
import { readDamage } from '../store/integrity-check.ts';
import { findHostRefusal } from '../http/guard.ts';
import { sendDocument, sendProblem } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';

const PATIENCE_MS = 2_000;
const UNLANDED_MS = 15_000; // By then the server has ended a hanging writer.
const state = z.object({ status: z.string(), note: z.string().optional() });
const schema = { tags: ['Health'], security: [], response: { 200: state } };

/** Liveness (the process runs) and readiness (it can do its work). */
export function healthRoutes(app: Server, context: RouteContext): void {
  const check = (url: string, summary: string, handler: RouteHandlerMethod): void => {
    for (const path of [url, `${url}/`]) {
      const described = { ...schema, summary, hide: path !== url };
      app.get(path, { config: { open: true, isProbe: true }, schema: described }, handler);
    }
  };
  check('/health', 'Check liveness', (_request, reply) => sendDocument(reply, state, { status: 'ok' }));
  check('/ready', 'Check readiness', async (request, reply) => {
    const reasons = await readFaults(context);
    if (findHostRefusal(request, context) !== null) {
      void reply.code(reasons.length === 0 ? 200 : 503);
      return sendDocument(reply, state, { status: reasons.length === 0 ? 'ready' : 'unready' });
    }
    const isKnown = request.headers.authorization !== undefined || request.headers.cookie !== undefined;
    const isAuthenticated = isKnown && 'role' in (await context.access.authenticate(request));
    if (reasons.length === 0) {
      const isEmpty = isAuthenticated && (await sweptKinds(context.session)).size === 0;
      return sendDocument(reply, state, {
        status: 'ready',
        ...(isEmpty && { note: 'nothing was read yet' }),
      });
    }
    return sendProblem(reply, {
      status: 503,
      code: 'server.not_ready',
      detail: 'It is not ready.',
      hint: isAuthenticated ? undefined : 'With a token, this shows the reason.',
      ...(isAuthenticated && { more: { reasons } }),
    });
  });
}

async function readFaults(context: RouteContext): Promise<readonly string[]> {
  const { session, clock, logger, closing, writes, logFault = () => null } = context;
  if (closing.aborted) return ['it is stopping'];
  // Writing this line tests the log again.
  if (logFault() !== null) logger.warn({ event: 'log.tested' }, 'the log is tested: its last line was lost');
  const reasons: string[] = [];
  try {
    const damage = await withTimeout(clock, PATIENCE_MS, readDamage(session));
    if (damage === TIMED_OUT_RESULT)
      reasons.push(`the mirror does not answer within ${PATIENCE_MS / 1000} s`);
    else if (damage !== null) reasons.push(damage.reason);
  } catch (error) {
    const isExpected = error instanceof SyncError;
    if (!isExpected) logger.error({ err: error }, 'the mirror cannot be read');
    reasons.push(isExpected ? error.message : 'the mirror cannot be read; the log says why');
  }
  if (logFault() !== null) reasons.push(`the log cannot be written, and its lines are lost: ${logFault()}`);
  const { pendingMs: unlandedMs, fault } = writes();
  if (unlandedMs < UNLANDED_MS) return reasons;
  const why = fault ?? 'another transaction has not ended';
  const seconds = Math.round(unlandedMs / 1000);
  return [...reasons, `writes to the mirror have not landed for ${seconds} s: ${why}`];
}
