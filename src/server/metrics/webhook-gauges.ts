import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { instantOf } from '../../lib/time/clock.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import { countDeliveries } from '../../mirror/webhooks/delivery-store.ts';
import type { DeliveryState } from '../../mirror/webhooks/delivery-store.ts';
import { listEndpoints, needsPerson } from '../../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../../mirror/webhooks/endpoint-store.ts';

interface EndpointGauge {
  readonly name: string;
  readonly help: string;
  readonly value: (endpoint: EndpointStanding, now: Date) => number;
}

const GAUGES: readonly EndpointGauge[] = [
  {
    name: 'bms_sync_webhook_oldest_waiting_age_seconds',
    help: 'Age of the oldest delivery that is neither taken nor given up; 0 if there is none.',
    value: ({ pendingSince: since }, now) =>
      since === null ? 0 : Math.max(0, (now.getTime() - instantOf(since).getTime()) / 1000),
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

const STATES: readonly DeliveryState[] = ['ready', 'waiting', 'delivered', 'failed', 'dropped'];

/** Adds the present state of each webhook endpoint to a registry. */
export async function addWebhookGauges(registry: Registry, db: Queryable, now: Date): Promise<void> {
  const [registers, endpoints] = [[registry], await listEndpoints(db)];
  for (const { name, help, value } of GAUGES) {
    const gauge = new Gauge({ name, help, labelNames: ['endpoint'], registers });
    for (const endpoint of endpoints) gauge.set({ endpoint: endpoint.name }, value(endpoint, now));
  }
  const deliveries = new Gauge({
    ...{ name: 'bms_sync_webhook_deliveries', help: 'Deliveries that are kept.', registers },
    labelNames: ['endpoint', 'state'],
  });
  const counts = await countDeliveries(db);
  for (const { id, name: endpoint } of endpoints)
    for (const state of STATES) {
      const found = counts.find((one) => one.endpointId === id && one.state === state);
      deliveries.set({ endpoint, state }, found?.n ?? 0);
    }
}
