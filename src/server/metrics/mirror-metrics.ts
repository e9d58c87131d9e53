import { Gauge, Registry } from 'prom-client';
import type { Kind } from '../../catalog/kind.ts';
import { instantOf } from '../../lib/clock.ts';
import type { KindStatus } from '../../mirror/kinds/status-store.ts';
import type { Status } from '../status.ts';

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
export async function mirrorMetrics(scraped: Scraped): Promise<string> {
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
