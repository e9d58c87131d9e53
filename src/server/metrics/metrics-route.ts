import type { Registry } from 'prom-client';
import { z } from 'zod';
import { latestSeq } from '../../feed/read-changes.ts';
import { oldestUnsettledSend } from '../../mirror/outbox/attempt-store.ts';
import { LATE, within } from '../../lib/within.ts';
import type { RouteContext, Server } from '../server.ts';
import { readMirrorStatus } from '../status.ts';
import { mirrorMetrics } from './mirror-metrics.ts';

const QUEUE_PATIENCE_MS = 2_000;

/** Serves the metrics for Prometheus: of this process, of the mirror as it is now, and of the queue. */
export function metricsRoute(app: Server, context: RouteContext, registry: Registry): void {
  const { session, kinds, clock } = context;
  app.get(
    '/metrics',
    {
      schema: {
        ...{ summary: 'Export metrics for Prometheus', tags: ['Health'] },
        ...{ produces: ['text/plain'], response: { 200: z.string() } },
      },
    },
    async (_request, reply) => {
      const status = await readMirrorStatus(session, kinds, clock.now());
      const texts = [
        await registry.metrics(),
        await mirrorMetrics({
          ...{ status, kinds, now: clock.now(), latest: await latestSeq(session) },
          unsettledSince: await oldestUnsettledSend(session),
        }),
        await queueMetrics(context),
      ];
      return reply.type(registry.contentType).send(texts.map((text) => `${text.trimEnd()}\n`).join(''));
    },
  );
}

/** BullMQ's gauge of jobs, whose name ends like a part of a histogram. */
const BULLMQ_JOBS = 'bullmq_job_count';

const UP = 'bms_sync_queue_metrics_up';

/** A queue that does not answer must not keep the rest from being scraped. */
async function queueMetrics({ queueMetrics: read, clock, logger }: RouteContext): Promise<string> {
  if (read === undefined) return '';
  const isUp = (up: 0 | 1): string =>
    `# HELP ${UP} Whether the queue told its metrics.\n# TYPE ${UP} gauge\n${UP} ${up}\n`;
  try {
    const text = await within(clock, QUEUE_PATIENCE_MS, read());
    return text === LATE ? isUp(0) : `${isUp(1)}${text.replaceAll(BULLMQ_JOBS, 'bullmq_jobs')}`;
  } catch (error) {
    logger.warn({ err: error }, 'the queue did not tell its metrics');
    return isUp(0);
  }
}
