import { checkSchedules } from '../checks/schedules.ts';
import { readStale } from '../checks/stale-kinds.ts';
import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { MirrorContext, ProcessContext } from '../db/mirror-context.ts';
import { findUnscheduled, nextSlots } from '../runs/schedule.ts';
import { formatRfc3339 } from '../lib/time/clock.ts';
import { startFreshnessReads } from '../pull/freshness/keep-fresh.ts';
import type { NeedReader } from '../needs/read-needs.ts';
import { pullSettings } from './pull.ts';
import type { PullParts } from '../pull/parts.ts';
import { schedulesOf } from './schedules.ts';

/** Starts what a feature does in a service. Returns the functions that stop it. */
export type StartWork = (
  config: Config,
  process: ProcessContext,
  needsOfFeatures: NeedReader,
) => readonly (() => Promise<void>)[];

/** Makes a function that reads which scheduled kinds are stale. */
export function staleReader(config: Config, context: MirrorContext) {
  const schedules = schedulesOf(config);
  return () => readStale(context.session, schedules, { now: context.clock.now() });
}

/** Reads pages between sweeps, if there is a budget for it. Returns a function that stops it. */
export function startFreshness(config: Config, parts: PullParts): () => Promise<void> {
  const { requestsPerMinute } = config.freshness;
  if (requestsPerMinute === null) return () => Promise.resolve();
  const rules = pullSettings(config);
  return startFreshnessReads(parts, {
    requestsPerMinute,
    rules,
    baseUrl: rules.baseUrl,
    kinds: requireListedKinds(config),
  });
}

/** Describes the automatic pulls of this process and when each is due next, in the words of `doctor`. */
export function describePulls(config: Config, now: Date) {
  const inForce = schedulesOf(config);
  const slots = nextSlots(inForce, now);
  const listed = requireListedKinds(config).map((kind) => kind.name);
  const schedules = slots.map(({ name, cron, kinds, at }) => ({
    name,
    cron,
    kinds,
    next: formatRfc3339(at),
  }));
  const serving = { workers: [], isPulling: true, isSending: false, schedules: null };
  const checks = [...checkSchedules(config, inForce, serving, now)];
  const words = checks.flatMap(({ name, detail }) => (name === 'retention' ? [] : [detail]));
  return { schedules, unscheduled: findUnscheduled(inForce, listed), words };
}
