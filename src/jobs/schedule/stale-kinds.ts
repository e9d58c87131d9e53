import { instantOf, lengthOf } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { readStatus } from '../../mirror/kinds/status-store.ts';
import type { Session } from '../../mirror/session/session.ts';
import { openRuns } from '../../mirror/runs/open-runs.ts';
import { leaveNews, staleNews } from '../../mirror/webhooks/news.ts';
import { slotBefore, startCheck } from '../schedule.ts';
import type { Schedule, ScheduleParts } from '../schedule.ts';

const CHECK_MS = 60_000;

/** A kind is stale once this many slots of one of its schedules have passed since its list was read to the end. */
const SLOTS = 3;

/** Tells in the log of scheduled kinds whose lists are no longer read to the end. Returns a function that stops it. */
export function startStaleWatch(parts: ScheduleParts, schedules: readonly Schedule[]): () => Promise<void> {
  return startCheck(parts, {
    everyMs: CHECK_MS,
    name: 'looking for stale kinds',
    task: createStaleCheck(parts, schedules),
  });
}

/** Creates the check that tells of each kind once as it becomes stale; a kind that is read or about to be read is not. */
export function createStaleCheck(
  { session, clock, logger }: ScheduleParts,
  schedules: readonly Schedule[],
): () => Promise<void> {
  const startedAt = clock.now();
  const whole = schedules.filter(({ pages, verifies }) => pages === null && verifies === undefined);
  let told: ReadonlySet<string> = new Set();
  return async () => {
    const now = clock.now();
    if (now.getTime() - startedAt.getTime() < CHECK_MS) return; // Slots that were missed get their runs first.
    const sweptAt = new Map(
      (await readStatus(session)).map(({ kind, last_sweep_at: at }) => [
        kind,
        at === null ? null : instantOf(at),
      ]),
    );
    const reading = new Set((await openRuns(session)).flatMap(({ kinds }) => kinds));
    const stale = staleKinds(whole, { sweptAt, startedAt, now });
    const isNews = ({ kind }: StaleKind): boolean => !told.has(kind) && !reading.has(kind);
    const news = stale.filter(isNews);
    tell(logger, news, now);
    if (news.length > 0) await leaveAll(session, news, now);
    const isKnown = ({ kind }: StaleKind): boolean => told.has(kind) || !reading.has(kind);
    told = new Set(stale.filter(isKnown).map(({ kind }) => kind));
  };
}

async function leaveAll(session: Session, stale: readonly StaleKind[], now: Date): Promise<void> {
  await session.atomically(async (tx) => {
    for (const { kind, since } of stale) await leaveNews(tx, staleNews(kind, since, now));
  });
}

/** Tells of all kinds that a check found stale in one line: an outage makes them stale together. */
function tell(logger: Logger, stale: readonly StaleKind[], now: Date): void {
  const [first] = stale;
  if (first === undefined) return;
  const since = (one: StaleKind): string | null => one.since?.toISOString() ?? null;
  const facts = { event: 'kind.stale', kind: first.kind, since: since(first) };
  if (stale.length === 1) {
    const age = first.since === null ? 'ever' : `for ${lengthOf(now.getTime() - first.since.getTime())}`;
    const why = `${SLOTS} slots of its schedule have passed`;
    logger.warn(facts, `the list of ${first.kind} was not read to its end ${age}: ${why}`);
    return;
  }
  const kinds = stale.map((one) => ({ kind: one.kind, since: since(one) }));
  const names = stale.map(({ kind }) => kind).join(', ');
  const message = `${stale.length} lists were not read to their ends for ${SLOTS} slots of their schedules: ${names}`;
  logger.warn({ ...facts, kinds }, message);
}

interface StaleKind {
  readonly kind: string;
  /** When its list was last read to the end; null = never. */
  readonly since: Date | null;
}

interface Readings {
  /** When the list of each kind was last read to its end; null or absent = never. */
  readonly sweptAt: ReadonlyMap<string, Date | null>;
  /** A kind that was never read is judged from the start of this process on. */
  readonly startedAt: Date;
  readonly now: Date;
}

/** The scheduled kinds whose last complete sweep is older than three slots of a schedule that reads whole lists. */
export function staleKinds(
  schedules: readonly Schedule[],
  { sweptAt, startedAt, now }: Readings,
): readonly StaleKind[] {
  const stale = new Map<string, StaleKind>();
  for (const schedule of schedules) {
    const oldest = slotBefore(schedule, now, SLOTS);
    for (const kind of schedule.kinds) {
      const since = sweptAt.get(kind) ?? null;
      if ((since ?? startedAt) < oldest) stale.set(kind, { kind, since });
    }
  }
  return [...stale.values()];
}
