import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ServerParts } from '../parts.ts';

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
