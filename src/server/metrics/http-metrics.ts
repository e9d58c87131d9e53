import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { WaitingLimit } from '../limits.ts';
import type { Server, ServerParts } from '../server.ts';

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10];
const REFUSED = [401, 403, 421, 429];

/** Gauges that are named like counters; beside them stand the same figures by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((name) => `nodejs_active_${name}_total`);

/** Counts the answers of this process, and the resources that it uses. */
export function countRequests(
  app: Server,
  { waitingLimit, version }: { waitingLimit: WaitingLimit; version: string },
): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const requests = new Counter({
    ...{ name: 'bms_sync_http_requests_total', help: 'Requests that were answered.', registers },
    labelNames: ['method', 'route', 'status'],
  });
  const refusals = new Counter({
    ...{ name: 'bms_sync_http_refusals_total', help: 'Callers that were not let in.', registers },
    labelNames: ['status'],
  });
  const duration = new Histogram({
    ...{ name: 'bms_sync_http_request_duration_seconds', help: 'Time to answer.', registers },
    ...{ labelNames: ['route'], buckets: SECONDS },
  });
  const waiting = new Gauge({
    ...{ name: 'bms_sync_http_waiting', help: 'Streams and long polls that are open.', registers },
    collect: () => {
      waiting.set(waitingLimit.taken());
    },
  });
  const build = { name: 'bms_sync_build_info', help: 'The release.', labelNames: ['version'], registers };
  new Gauge(build).set({ version }, 1);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    requests.inc({ method, route, status });
    if (REFUSED.includes(reply.statusCode)) refusals.inc({ status });
    if (route !== '/v1/changes') duration.observe({ route }, reply.elapsedTime / 1000); // Callers of that route ask to wait.
    done();
  });
  return registry;
}

/** Metrics of whether this process's writes land in the mirror. */
export function tellWrites(registry: Registry, { writes }: Pick<ServerParts, 'writes'>): void {
  const registers = [registry];
  const age = new Gauge({
    ...{ name: 'bms_sync_unlanded_write_age_seconds', registers },
    help: 'Time since the oldest write to the mirror that has not landed.',
    collect: () => {
      age.set(writes().unlandedMs / 1000);
    },
  });
  const last = new Gauge({
    ...{ name: 'bms_sync_last_write_timestamp_seconds', registers },
    help: 'When this process last wrote to the mirror; 0 before the first time.',
    collect: () => {
      last.set((writes().lastLandedAt?.getTime() ?? 0) / 1000);
    },
  });
}
