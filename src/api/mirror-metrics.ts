import { Gauge, Registry } from 'prom-client';
import { latestSeq } from '../store/records/change-store.ts';
import { parseInstant } from '../lib/time/clock.ts';
import type { KindStatus } from '../store/kinds/status-store.ts';
import { oldestUnsettledSend } from '../store/outbox/attempts-and-links.ts';
import { countDeliveries, type DeliveryState } from '../store/webhooks/delivery-queue.ts';
import { listEndpoints, needsPerson } from '../store/webhooks/endpoint-store.ts';
import type { RouteContext } from '../http/server.ts';
import { readMirrorStatus } from '../checks/status.ts';

/** The present state of the mirror and of its webhook endpoints, in Prometheus's text format. */
export async function mirrorMetrics(context: RouteContext): Promise<string> {
  const { session, kinds, clock } = context;
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
  for (const { name } of kinds.filter((kind) => kind.create ?? kind.update))
    blocked.set({ kind: name }, Number(status.blockedKinds.some((block) => block.kind === name)));
  add('bms_sync_frozen', 'Whether sends are paused until a user resumes them.').set(
    Number(status.frozen !== null),
  );
  add('bms_sync_last_change_seq', 'The number of the latest change event.').set(await latestSeq(session));
  const waiting = add(OLDEST_WAITING, OLDEST_WAITING_HELP, ['endpoint']);
  const failing = add('bms_sync_webhook_failing', FAILING_HELP, ['endpoint']);
  const disabled = add('bms_sync_webhook_disabled', 'Whether nothing is sent to the endpoint.', ['endpoint']);
  const deliveries = add('bms_sync_webhook_deliveries', 'Deliveries that are kept.', ['endpoint', 'state']);
  const counts = await countDeliveries(session);
  for (const row of await listEndpoints(session)) {
    const { name: endpoint } = row;
    waiting.set({ endpoint }, secondsSince(row.pendingSince, now));
    failing.set({ endpoint }, Number(needsPerson(row)));
    disabled.set({ endpoint }, Number(row.state === 'disabled'));
    for (const state of DELIVERY_STATES) {
      const count = counts.find((each) => each.endpointId === row.id && each.state === state);
      deliveries.set({ endpoint, state }, count?.n ?? 0);
    }
  }
  return await registry.metrics();
}

type AddGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

const OLDEST_UNSETTLED = 'bms_sync_outbox_oldest_unsettled_age_seconds';

/** Another machine's clock may be ahead. */
const secondsSince = (instant: string | null, now: Date): number =>
  instant === null ? 0 : Math.max(0, (now.getTime() - parseInstant(instant).getTime()) / 1000);

const secondsOf = (instant: string | null): number | null =>
  instant === null ? null : parseInstant(instant).getTime() / 1000;

function addKinds(add: AddGauge, statuses: readonly KindStatus[]): void {
  /** Null = no value yet. */
  const addKind = (name: string, help: string, value: (status: KindStatus) => number | null): void => {
    const gauge = add(name, help, ['kind']);
    for (const status of statuses) {
      const number = value(status);
      if (number !== null) gauge.set({ kind: status.kind }, number);
    }
  };
  addKind('bms_sync_rows', 'Live rows.', (status) => status.rows);
  addKind('bms_sync_last_sweep_timestamp_seconds', 'When the list was last read to its end.', (status) =>
    secondsOf(status.lastSweepAt),
  );
  addKind('bms_sync_certified_timestamp_seconds', 'When the list was last known exactly.', (status) =>
    secondsOf(status.certifiedAt),
  );
  addKind('bms_sync_last_change_timestamp_seconds', 'When a record last changed.', (status) =>
    secondsOf(status.lastChangeAt),
  );
  addKind('bms_sync_open_issues', 'Open issues.', (status) => status.openIssues);
  addKind(
    'bms_sync_held_deletions',
    'Deletions on hold, which wait for a decision.',
    (status) => status.heldDeletions,
  );
}

const OLDEST_WAITING = 'bms_sync_webhook_oldest_waiting_age_seconds';
const OLDEST_WAITING_HELP = 'Age of the oldest event or notification that waits; 0 if there is none.';
const FAILING_HELP = 'Whether the endpoint accepts no deliveries, or was disabled for that reason.';
const DELIVERY_STATES: readonly DeliveryState[] = ['ready', 'waiting', 'delivered', 'failed', 'dropped'];
