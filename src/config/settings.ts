import type { z } from 'zod';
import { deletions, diff, outbound } from './groups/changes.ts';
import { kinds } from './groups/kinds.ts';
import { schedules } from './groups/schedules.ts';
import { log, server, shutdown } from './groups/service.ts';
import { source, sweep } from './groups/source.ts';
import { bi, database, queue, retention } from './groups/storage.ts';
import { webhooks } from './groups/webhooks.ts';
import { group } from './setting.ts';

/** Every setting with its default, in the order of the table in docs/settings.md. */
export const settings = group({
  source,
  database,
  queue,
  server,
  log,
  sweep,
  deletions,
  outbound,
  schedules,
  kinds,
  diff,
  webhooks,
  bi,
  retention,
  shutdown,
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** Validated settings; null = not set. */
export type Config = DeepReadonly<z.infer<typeof settings>>;
