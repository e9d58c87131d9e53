import { listLiveWorkers } from '../store/runs/worker-store.ts';
import type { Queryable } from '../db/session/session.ts';
import type { Schedule } from '../runs/schedule.ts';

/** The background services that are at work on a mirror, and how they pull. */
export type Serving = Awaited<ReturnType<typeof readServing>>;

/** Reads which background services are at work, and their schedules: null if none of them pulls. */
export async function readServing(db: Queryable) {
  const workers = await listLiveWorkers(db);
  const texts = [...new Set(workers.flatMap((worker) => worker.schedules ?? []))];
  const schedules = texts.flatMap((text) => JSON.parse(text) as Schedule[]);
  const distinct = new Map(schedules.map((schedule) => [JSON.stringify(schedule), schedule]));
  const roles = workers.flatMap((worker) => worker.roles.split(','));
  return {
    workers,
    isPulling: roles.includes('pulls'),
    isSending: roles.includes('outbound'),
    schedules: texts.length === 0 ? null : [...distinct.values()],
  };
}

/** The roles in which others can rely on a process; `serve.started` and `doctor` name them alike. */
export const rolesText = (roles: readonly string[]): string => roles.join(', ') || 'nothing';

/** Whether the running services pull by other schedules than the settings have. */
export function hasOtherSchedules(serving: Serving, configured: readonly Schedule[]): boolean {
  const sortedText = (schedules: readonly Schedule[]): string =>
    JSON.stringify(schedules.map((schedule) => JSON.stringify(schedule)).sort());
  return serving.schedules !== null && sortedText(serving.schedules) !== sortedText(configured);
}

export const OTHER_SCHEDULES_NOTE =
  'The schedules shown are the ones of the running background service. These settings have others, which apply after its next start.';
