import { Gauge, Registry } from 'prom-client';
import { latestSeq } from '../mirror/records/change-store.ts';
import { instantOf } from '../lib/time/clock.ts';
import type { KindStatus } from '../mirror/kinds/status-store.ts';
import { oldestUnsettledSend } from '../mirror/outbox/attempts-and-links.ts';
import type { Queryable } from '../db/session/session.ts';
import { countDeliveries } from '../mirror/webhooks/delivery-store.ts';
import type { DeliveryState } from '../mirror/webhooks/delivery-store.ts';
import { listEndpoints, needsPerson } from '../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../mirror/webhooks/endpoint-store.ts';
import type { RouteContext } from '../http/server.ts';
import { readMirrorStatus } from '../checks/status.ts';

/** The present state of the mirror and of its webhook endpoints, in Prometheus's text format. */
export async function mirrorMetrics({ session, kinds, clock }: RouteContext): Promise<string> {
  const registry = new Registry(); // A new one each time, so that removed labels leave no old value behind.
  const add: AddGauge = (name, help, labelNames = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const now = clock.now();
  const status = await readMirrorStatus(session, kinds);
  addKinds(add, status.kinds);
  const entries = add('bms_sync_outbox_entries', 'Entries of the outbox.', ['state']);
  for (const [state, count] of Object.entries(status.outbox)) entries.set({ state }, count);
  add(OLDEST_UNSETTLED, 'Age of the oldest send with an unknown outcome.').set(
    secondsSince(await oldestUnsettledSend(session), now),
  );
  const blocked = add('bms_sync_write_blocked', 'Whether the service refuses writes of the kind.', ['kind']);
  for (const { name } of kinds.filter(({ create, update }) => create ?? update))
    blocked.set({ kind: name }, Number(status.blockedKinds.some(({ kind }) => kind === name)));
  add('bms_sync_frozen', 'Whether nothing is sent until a person says so.').set(
    Number(status.frozen !== null),
  );
  add('bms_sync_last_change_seq', 'The number of the latest change event.').set(await latestSeq(session));
  await addEndpoints(add, session, now);
  return await registry.metrics();
}

type AddGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

const OLDEST_UNSETTLED = 'bms_sync_outbox_oldest_unsettled_age_seconds';

/** Another machine's clock may be ahead. */
const secondsSince = (instant: string | null, now: Date): number =>
  instant === null ? 0 : Math.max(0, (now.getTime() - instantOf(instant).getTime()) / 1000);

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

function addKinds(add: AddGauge, statuses: readonly KindStatus[]): void {
  for (const { name, help, value } of KIND_GAUGES) {
    const gauge = add(name, help, ['kind']);
    for (const status of statuses) {
      const number = value(status);
      if (number !== null) gauge.set({ kind: status.kind }, number);
    }
  }
}

interface EndpointGauge {
  readonly name: string;
  readonly help: string;
  readonly value: (endpoint: EndpointStanding, now: Date) => number;
}

const ENDPOINT_GAUGES: readonly EndpointGauge[] = [
  {
    name: 'bms_sync_webhook_oldest_waiting_age_seconds',
    help: 'Age of the oldest delivery that is neither taken nor given up; 0 if there is none.',
    value: ({ pendingSince }, now) => secondsSince(pendingSince, now),
  },
  {
    name: 'bms_sync_webhook_failing',
    help: 'Whether the endpoint takes no deliveries, or was disabled because it took none.',
    value: (endpoint) => Number(needsPerson(endpoint)),
  },
  {
    name: 'bms_sync_webhook_disabled',
    help: 'Whether nothing is sent to the endpoint.',
    value: ({ state }) => Number(state === 'disabled'),
  },
];

const DELIVERY_STATES: readonly DeliveryState[] = ['ready', 'waiting', 'delivered', 'failed', 'dropped'];

async function addEndpoints(add: AddGauge, db: Queryable, now: Date): Promise<void> {
  const endpoints = await listEndpoints(db);
  for (const { name, help, value } of ENDPOINT_GAUGES) {
    const gauge = add(name, help, ['endpoint']);
    for (const endpoint of endpoints) gauge.set({ endpoint: endpoint.name }, value(endpoint, now));
  }
  const deliveries = add('bms_sync_webhook_deliveries', 'Deliveries that are kept.', ['endpoint', 'state']);
  const counts = await countDeliveries(db);
  for (const { id, name: endpoint } of endpoints)
    for (const state of DELIVERY_STATES) {
      const found = counts.find((one) => one.endpointId === id && one.state === state);
      deliveries.set({ endpoint, state }, found?.n ?? 0);
    }
}
