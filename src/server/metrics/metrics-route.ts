import { Gauge, Registry } from 'prom-client';
import { z } from 'zod';
import type { Kind } from '../../catalog/kind.ts';
import { latestSeq } from '../../feed/read-changes.ts';
import { instantOf } from '../../lib/time/clock.ts';
import { LATE, within } from '../../lib/time/deadline.ts';
import type { KindStatus } from '../../mirror/kinds/status-store.ts';
import { oldestUnsettledSend } from '../../mirror/outbox/attempts-and-links.ts';
import type { RouteContext, Server } from '../server.ts';
import { readMirrorStatus } from '../status.ts';
import type { Status } from '../status.ts';
import { addWebhookGauges } from './webhook-gauges.ts';

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
        await webhookMetrics(context),
        await queueMetrics(context),
      ];
      return reply.type(registry.contentType).send(texts.map((text) => `${text.trimEnd()}\n`).join(''));
    },
  );
}

async function webhookMetrics({ session, clock }: RouteContext): Promise<string> {
  const registry = new Registry();
  await addWebhookGauges(registry, session, clock.now());
  return await registry.metrics();
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
    logger.debug({ err: error }, 'the queue did not tell its metrics'); // The log tells of its outage once.
    return isUp(0);
  }
}

interface KindGauge {
  readonly name: string;
  readonly help: string;
  /** Null = no value yet. */
  readonly value: (status: KindStatus) => number | null;
}

const secondsOf = (instant: string | null): number | null =>
  instant === null ? null : instantOf(instant).getTime() / 1000;

const KIND_GAUGES: readonly KindGauge[] = [
  { name: 'bms_sync_rows', help: 'Live rows.', value: ({ rows }) => rows },
  {
    name: 'bms_sync_last_sweep_timestamp_seconds',
    help: 'When the list was last read to its end.',
    value: (status) => secondsOf(status.last_sweep_at),
  },
  {
    name: 'bms_sync_certified_timestamp_seconds',
    help: 'As of when the list was last known exactly.',
    value: (status) => secondsOf(status.certified_at),
  },
  {
    name: 'bms_sync_last_change_timestamp_seconds',
    help: 'When a record was last seen to change.',
    value: (status) => secondsOf(status.last_change_at),
  },
  { name: 'bms_sync_open_issues', help: 'Open issues.', value: (status) => status.open_issues },
  {
    name: 'bms_sync_held_deletions',
    help: 'Disappearances that wait for a person.',
    value: (status) => status.held_deletions,
  },
];

interface Scraped {
  readonly status: Status;
  readonly kinds: readonly Kind[];
  /** The `seq` of the latest change event. */
  readonly latest: number;
  /** When the oldest unsettled send was made; null if none is unsettled. */
  readonly unsettledSince: string | null;
  readonly now: Date;
}

const OLDEST_UNSETTLED = 'bms_sync_outbox_oldest_unsettled_age_seconds';

function ageOf({ unsettledSince, now }: Scraped): number {
  const since = secondsOf(unsettledSince);
  return since === null ? 0 : Math.max(0, now.getTime() / 1000 - since); // Another machine's clock may be ahead.
}

/** The present state of the mirror in Prometheus's text format. */
async function mirrorMetrics(scraped: Scraped): Promise<string> {
  const { status, kinds, latest } = scraped;
  const registry = new Registry(); // A new one each time, so that removed labels leave no old value behind.
  const gauge = (name: string, help: string, labelNames: readonly string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  for (const { name, help, value } of KIND_GAUGES) {
    const of = gauge(name, help, ['kind']);
    for (const row of status.kinds) {
      const number = value(row);
      if (number !== null) of.set({ kind: row.kind }, number);
    }
  }
  const entries = gauge('bms_sync_outbox_entries', 'Entries of the outbox.', ['state']);
  for (const [state, count] of Object.entries(status.outbox)) entries.set({ state }, count);
  const age = gauge(OLDEST_UNSETTLED, 'Age of the oldest send with an unknown outcome.');
  age.set(ageOf(scraped));
  const blocked = gauge('bms_sync_write_blocked', 'Whether the service refuses writes of the kind.', [
    'kind',
  ]);
  for (const { name } of kinds.filter(({ create, update }) => create ?? update))
    blocked.set({ kind: name }, status.blockedKinds.some(({ kind }) => kind === name) ? 1 : 0);
  gauge('bms_sync_frozen', 'Whether nothing is sent until a person says so.').set(status.frozen ? 1 : 0);
  gauge('bms_sync_last_change_seq', 'The number of the latest change event.').set(latest);
  return await registry.metrics();
}
