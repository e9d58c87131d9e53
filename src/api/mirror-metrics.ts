import { Gauge, Registry } from 'prom-client';
import { latestSeq } from '../store/records/change-store.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { oldestUnsettledSend } from '../store/outbox/attempts-and-links.ts';
import { listEndpoints, needsPerson } from '../events/webhooks/endpoint-store.ts';
import type { RouteContext } from '../http/server.ts';
import { readStatus } from '../store/kinds/status-store.ts';
import { readFrozen } from '../store/outbox/freeze-store.ts';
import { readBlocks } from '../store/outbox/outbox-queue.ts';
import { ENTRY_STATES } from '../outbound/decisions/entry-list.ts';
import { countEntries } from '../store/outbox/outbox-store.ts';

/** The present state of the mirror and of its webhook endpoints, in Prometheus's text format. */
export async function mirrorMetrics(context: RouteContext): Promise<string> {
  const { session, kinds, clock } = context;
  const registry = new Registry(); // A new one each time, so that removed labels leave no old value behind.
  const add = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const now = clock.now();
  const statuses = await readStatus(session);
  for (const [name, help, member] of OF_KINDS) {
    const gauge = add(name, help, ['kind']);
    for (const { kind, [member]: value } of statuses)
      if (value !== null)
        gauge.set({ kind }, typeof value === 'number' ? value : parseInstant(value).getTime() / 1000);
  }
  const entries = add('bms_sync_outbox_entries', 'Entries of the outbox.', ['state']);
  const counted = await countEntries(session);
  for (const state of ENTRY_STATES) entries.set({ state }, counted[state] ?? 0);
  add(OLDEST_UNSETTLED, 'Age of the oldest send with an unknown outcome.').set(
    secondsSince(await oldestUnsettledSend(session), now),
  );
  const blocked = add('bms_sync_write_blocked', 'Whether the service refuses writes of the kind.', ['kind']);
  const blocks = await readBlocks(session);
  for (const { name } of kinds.filter((kind) => kind.create ?? kind.update))
    blocked.set({ kind: name }, Number(blocks.some((block) => block.kind === name)));
  add('bms_sync_frozen', 'Whether sends are paused until a user resumes them.').set(
    Number((await readFrozen(session)) !== null),
  );
  add('bms_sync_last_change_seq', 'The number of the latest change event.').set(await latestSeq(session));
  const waiting = add(OLDEST_WAITING, OLDEST_WAITING_HELP, ['endpoint']);
  const failing = add('bms_sync_webhook_failing', FAILING_HELP, ['endpoint']);
  const disabled = add('bms_sync_webhook_disabled', 'Whether nothing is sent to the endpoint.', ['endpoint']);
  for (const row of await listEndpoints(session)) {
    const { name: endpoint } = row;
    waiting.set({ endpoint }, secondsSince(row.pendingSince, now));
    failing.set({ endpoint }, Number(needsPerson(row)));
    disabled.set({ endpoint }, Number(row.state === 'disabled'));
  }
  return await registry.metrics();
}

const OLDEST_UNSETTLED = 'bms_sync_outbox_oldest_unsettled_age_seconds';

/** Another machine's clock may be ahead. */
const secondsSince = (instant: string | null, now: Date): number =>
  instant === null ? 0 : Math.max(0, (now.getTime() - parseInstant(instant).getTime()) / 1000);

/** Gauges of each kind, each with the member that it shows: a number, or an instant, which is null before the first one. */
const OF_KINDS = [
  ['bms_sync_rows', 'Live rows.', 'rows'],
  ['bms_sync_last_sweep_timestamp_seconds', 'When the list was last read to its end.', 'lastSweepAt'],
  ['bms_sync_certified_timestamp_seconds', 'When the list was last known exactly.', 'certifiedAt'],
  ['bms_sync_last_change_timestamp_seconds', 'When a record last changed.', 'lastChangeAt'],
  ['bms_sync_open_issues', 'Open issues.', 'openIssues'],
  ['bms_sync_held_deletions', 'Deletions on hold, which wait for a decision.', 'heldDeletions'],
] as const;

const OLDEST_WAITING = 'bms_sync_webhook_oldest_waiting_age_seconds';
const OLDEST_WAITING_HELP = 'Age of the oldest event or notification that waits; 0 if there is none.';
const FAILING_HELP = 'Whether the endpoint accepts no deliveries, or was disabled for that reason.';
