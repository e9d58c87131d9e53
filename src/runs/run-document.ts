import * as z from 'zod';
import { instant } from '../lib/json/document.ts';

const run = z.object({
  id: z.int(),
  command: z.string(),
  kinds: z.array(z.string()),
  extent: z
    .string()
    .nullable()
    .describe('the part that a backfill reads: `--ids 1,5-9`, `--pages 1-20` or `--all`'),
  state: z.enum(['requested', 'running', 'done', 'incomplete', 'failed', 'interrupted']),
  reason: z.string().nullable(),
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  slot: z.string().nullable().describe('of a schedule: name@time, and name@time#n for its n-th repeat'),
});

const report = z.object({
  kind: z.string(),
  state: z.enum(['certified', 'complete', 'invalid', 'aborted', 'busy']),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  certifiedAt: instant.nullable(),
  pages: z.int(),
  rows: z.int(),
  created: z.int(),
  updated: z.int(),
  deleted: z.int(),
  restored: z.int(),
  unchanged: z.int(),
  quarantined: z.int(),
  requests: z.int(),
  retries: z.int(),
  durationMs: z.int(),
});

const listedRun = run.extend({ repeats: z.array(run).describe('of its slot, oldest first') });
/** The latest runs. */
export const runList = z.object({ runs: z.array(listedRun) });

/** One run, kind by kind. */
export const shownRun = run.extend({
  reports: z.array(report),
  tries: z.array(run).describe('the runs of its slot, oldest first: the later ones repeat the first'),
});
