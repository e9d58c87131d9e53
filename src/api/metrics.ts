import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import * as z from 'zod';
import { TIMED_OUT_RESULT, withTimeout } from '../lib/time/deadline.ts';
import { mirrorMetrics } from './mirror-metrics.ts';
import type { RouteContext, Server } from '../http/server.ts';

const QUEUE_PATIENCE_MS = 2_000;

/** Serves the metrics for Prometheus: of this process, of the mirror as it is now, and of the queue. */
export function metricsRoute(app: Server, context: RouteContext, registry: Registry): void {
  const answer = { description: 'The metrics', content: { 'text/plain': { schema: z.string() } } };
  const schema = { summary: 'Export metrics for Prometheus', tags: ['Health'], response: { 200: answer } };
  app.get('/metrics', { schema }, async (_request, reply) => {
    const processMetrics = await registry.metrics();
    const texts = [processMetrics, await mirrorMetrics(context), await queueMetrics(context)];
    return reply.type(registry.contentType).send(texts.map((text) => `${text.trimEnd()}\n`).join(''));
  });
}

/** BullMQ's gauge of jobs, whose name ends like a part of a histogram. */
const BULLMQ_JOBS = 'bullmq_job_count';

const UP = 'bms_sync_queue_metrics_up';

/** A queue that does not answer must not keep the rest from being scraped. */
async function queueMetrics(context: RouteContext): Promise<string> {
  if (context.queueMetrics === undefined) return '';
  const upGauge = (up: 0 | 1): string =>
    `# HELP ${UP} Whether the queue metrics could be read.\n# TYPE ${UP} gauge\n${UP} ${up}\n`;
  try {
    const text = await withTimeout(context.clock, QUEUE_PATIENCE_MS, context.queueMetrics());
    return text === TIMED_OUT_RESULT
      ? upGauge(0)
      : `${upGauge(1)}${text.replaceAll(BULLMQ_JOBS, 'bullmq_jobs')}`;
  } catch (error) {
    context.logger.debug({ err: error }, 'the queue metrics could not be read'); // The log reports its outage once.
    return upGauge(0);
  }
}

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10];

/** Gauges that are named like counters; beside them stand the same figures by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((name) => `nodejs_active_${name}_total`);

/** Counts the answers of this process, and reports its release, the resources that it uses, and whether its writes land. */
export function countRequests(app: Server, context: RouteContext): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const requests = new Counter({
    name: 'bms_sync_http_requests_total',
    help: 'Requests that were answered.',
    registers,
    labelNames: ['method', 'route', 'status'],
  });
  const duration = new Histogram({
    name: 'bms_sync_http_request_duration_seconds',
    help: 'Time to answer.',
    registers,
    labelNames: ['route'],
    buckets: SECONDS,
  });
  const addGauge = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => { gauge.set(read()); } }); // prettier-ignore
  };
  addGauge('bms_sync_http_waiting', 'Streams that are open.', context.streamLimit.total);
  const build = { name: 'bms_sync_build_info', help: 'The release.', labelNames: ['version'], registers };
  new Gauge(build).set({ version: context.version }, 1);
  const age = 'Time since the oldest write to the mirror that has not landed.';
  addGauge('bms_sync_unlanded_write_age_seconds', age, () => context.writes().pendingMs / 1000);
  const last = 'When this process last wrote to the mirror; 0 before the first time.';
  addGauge(
    'bms_sync_last_write_timestamp_seconds',
    last,
    () => (context.writes().lastLandedAt?.getTime() ?? 0) / 1000,
  );
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    requests.inc({ method, route, status });
    if (route !== '/v1/changes') duration.observe({ route }, reply.elapsedTime / 1000); // Streams last as long as their callers.
    done();
  });
  return registry;
}
