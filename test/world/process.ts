import { sql } from 'drizzle-orm';
import type { WorkRef } from '../../src/lib/work-queue.ts';
import { parseInstant } from '../../src/lib/time/clock.ts';
import { claimRun, closeStaleRuns, requestedRuns } from '../../src/store/runs/run-requests.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freezeIfRestored } from '../../src/outbound/freeze.ts';
import { outboxWork } from '../../src/outbound/send/outbox-work.ts';
import { createOwnSends } from '../../src/outbound/own-sends.ts';
import { startStopwatch } from '../../src/outbound/stopwatch.ts';
import type { PullParts } from '../../src/pull/parts.ts';
import { pullKinds } from '../../src/pull/sweep/pull-kinds.ts';
import { verifyKinds } from '../../src/features/verify/verify-kinds.ts';
import { openSource, type Source } from '../../src/source/source.ts';
import { endLeases } from '../support/lapse.ts';
import { dumpMirror } from './dump.ts';
import { isOfGoingBack } from './going-back.ts';
import { Killed, watchedSession, type Life } from './watched-session.ts';
import { openNetwork } from './network.ts';
import { changeToken, noteRequest } from './others.ts';
import type { Request } from './service.ts';
import { TOKEN, type Stage } from './stage.ts';

/** One our process: it works the outbox and requested sweeps, until it dies. */
interface Process {
  readonly stage: Stage;
  readonly owner: string;
  readonly life: Life;
  readonly session: Session;
  readonly source: Source;
  readonly outbox: ReturnType<typeof outboxWork>;
  readonly running: Set<Promise<void>>;
  /** Entries that it is on. */
  readonly inHand: Set<number>;
  isPulling: boolean;
  tookOverMs: number;
}

/** One process after the other, each of them until it dies. */
export async function employ(stage: Stage, number: number): Promise<void> {
  for (let life = 1; !stage.isOver; life++) {
    const owner = `process-${number}.${life}`;
    await live(openProcess(stage, owner));
    stage.dead.add(owner);
    await endLeases(stage.session, owner);
    await stage.wakeUp.rest(stage.random.integer(100, 20_000));
  }
}

function openProcess(stage: Stage, owner: string): Process {
  const { timeline, random, kinds, service, logger, rules, sendCounter } = stage;
  const life: Life = { left: drawLife(stage), isOver: false, standStill: null };
  stage.lives.add(life);
  life.standStill = stillness(stage, owner, life);
  const session = watchedSession(stage.session, timeline, life);
  const fraction = (): number => random.integer(0, 999_999) / 1_000_000;
  const { clock } = timeline;
  const onRead = (request: Request): void => {
    noteRequest(stage, request);
    changeToken(stage, request);
  };
  const slowestMs = random.pick([20, 200, 2_000]);
  const openHttp = () =>
    openNetwork({ service, timeline, random, life, slowestMs, onRead, token: TOKEN, logLine: stage.logLine });
  const source = openSource(stage.sourceSettings, { clock, logger, random: fraction, openHttp });
  const outbox = outboxWork({
    session,
    source,
    clock,
    logger,
    kinds,
    sendCounter,
    ownSends: createOwnSends(),
    owner,
    rules,
    waits: { stopwatch: startStopwatch(clock), random: fraction },
  });
  return {
    stage,
    owner,
    life,
    session,
    source,
    outbox,
    running: new Set(),
    inHand: new Set(),
    isPulling: false,
    tookOverMs: -Infinity,
  };
}

/** How many steps a process has to live; null = it dies of old age. */
function drawLife(stage: Stage): number | null {
  if (stage.isCalm || stage.deathsLeft === 0) return null;
  stage.deathsLeft--;
  return stage.random.pick([3, 30, 120, 300, 600]) + stage.random.integer(0, 60);
}

const LONGEST_STILL_MS = 30 * 60_000;

/** Once in its life a process stands still, is held for dead, and goes on as if nothing had happened. */
function stillness(stage: Stage, owner: string, life: Life): Life['standStill'] {
  const { personality, random, timeline, dead, session, logLine } = stage;
  if (stage.isCalm || personality.deaths !== 'stands still') return null;
  let left = random.integer(5, 150);
  return async () => {
    if (left-- > 0 || stage.isCalm) return;
    life.standStill = null;
    logLine(`‖ ${owner} stands still`);
    dead.add(owner);
    await endLeases(session, owner);
    await timeline.clock.sleep(random.integer(30_000, LONGEST_STILL_MS));
    dead.delete(owner);
    logLine(`‖ ${owner} goes on`);
  };
}

/** Has the mirror compared with the service, by a process of its own. */
export async function verify(stage: Stage): Promise<void> {
  const process = openProcess({ ...stage, deathsLeft: 0 }, 'verify');
  const report = await verifyKinds(pullParts(process), stage.kinds, stage.pullSettings);
  stage.verified = report.kinds;
  await process.source.close();
}

async function live(process: Process): Promise<void> {
  const { stage, life, session, running, source } = process;
  const beside = stage.beside?.(pullParts(process), stage);
  try {
    await beat(process);
    await freezeIfRestored(session, stage.sendCounter, stage.timeline.clock.now(), stage.logger);
    while (!stage.isOver && !life.isOver) {
      if (beside !== undefined && !stage.isCalm) hold(process, beside());
      await look(process);
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    stage.logLine('† a process dies');
  }
  if (life.isOver) stage.remains.push(source.close().then(() => ended(running)));
  else await ended(running).then(() => source.close());
}

async function ended(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running);
}

const TAKE_OVER_EVERY_MS = 15_000;
const LOOK_AGAIN_MS = 10_000;

/** One look at what is to be done, and a rest until there may be more. */
async function look(process: Process): Promise<void> {
  const { stage, outbox, session, running, inHand } = process;
  const { timeline, wakeUp } = stage;
  await beat(process);
  if (
    (stage.dead.size > 0 || stage.goneBack !== null) &&
    timeline.nowMs() - process.tookOverMs >= TAKE_OVER_EVERY_MS
  )
    await takeOver(process);
  for (const due of stage.isSending() ? await outbox.due(20) : []) {
    if (inHand.has(due.id)) continue;
    inHand.add(due.id);
    const refs = stage.random.chance(0.1) ? [due, due] : [due]; // A notification may come twice.
    const works = refs.map((ref) => outbox.work(ref));
    for (const work of works) hold(process, work);
    void Promise.allSettled(works).then(() => inHand.delete(due.id));
  }
  const [run] = process.isPulling ? [] : await requestedRuns(session);
  if (run !== undefined) {
    process.isPulling = true;
    hold(process, pull(process, run));
  }
  await wakeUp.rest(running.size > 0 ? LOOK_AGAIN_MS : await delayMs(process));
}

/** By its heartbeat a process has a row, in which its sends are counted: without one, a database that went back is not found. */
async function beat({ stage, session, owner }: Process): Promise<void> {
  if (stage.personality.goesBack === 'never') return;
  await saveHeartbeat(session, { owner, roles: ['outbound'] });
}

async function takeOver(process: Process): Promise<void> {
  const { stage, outbox, session, owner } = process;
  const { timeline } = stage;
  process.tookOverMs = timeline.nowMs();
  await outbox.releaseStaleClaims((other) => other === owner || !stage.dead.has(other));
  await session.atomically((tx) => closeStaleRuns(tx, timeline.clock.now()));
}

/** Keeps hold of work; a process that dies of it dies as a whole. */
function hold({ running, stage, life }: Process, work: Promise<unknown>): void {
  const held = work
    .then(() => undefined)
    .catch((error: unknown) => {
      if (!(error instanceof Killed) && !life.isOver && !isOfGoingBack(stage, error)) stage.fail(error);
    })
    .finally(() => {
      running.delete(held);
      stage.wakeUp.wake();
    });
  running.add(held);
}

const MAX_DELAY_MS = 4 * 3_600_000;

/** Until an entry is due; anyone who adds one wakes everybody. */
async function delayMs({ stage: { timeline, isSending }, session }: Process): Promise<number> {
  if (!isSending()) return LOOK_AGAIN_MS * 6;
  const [row] = await session.query(sql`
    select min(next_attempt_at) as at from outbox
    where owner is null and next_attempt_at is not null and state in ('ready', 'unsettled', 'done')`);
  const at = row?.['at'];
  if (typeof at !== 'string') return MAX_DELAY_MS;
  const waitMs = parseInstant(at).getTime() - timeline.clock.now().getTime();
  return Math.min(MAX_DELAY_MS, Math.max(1_000, waitMs));
}

function pullParts({ stage, session, source, owner }: Process): PullParts {
  const { timeline, logger } = stage;
  return { session, source, clock: timeline.clock, logger, owner };
}

async function pull(process: Process, run: WorkRef): Promise<void> {
  const { stage, session, owner, life } = process;
  const { timeline } = stage;
  try {
    const claimed = await session.atomically((tx) =>
      claimRun(tx, { ...run, owner, now: timeline.clock.now() }),
    );
    if (claimed === null) return;
    const fromMs = timeline.nowMs();
    if (stage.personality.token === 'two in each sweep') stage.hasOtherToken = false;
    const kinds = stage.kinds.filter(({ name }) => claimed.kinds.includes(name));
    const report = await pullKinds(pullParts(process), { kinds, runId: run.id, ...stage.pullSettings }).catch(
      (error: unknown) => {
        if (life.isOver) return null;
        throw error;
      },
    );
    stage.logLine(`— pull ${run.id} ${JSON.stringify(report?.kinds ?? 'killed')}`);
    const after = await stage.session.atomically((tx) => dumpMirror(tx, stage.kinds));
    const states = new Map(report?.kinds.map(({ kind, state, reason }) => [kind, reason ?? state]));
    if (stage.goneBack !== null && stage.goneBack.toMs > fromMs) return; // Its run is none of this database.
    stage.pulls.push({ fromMs, toMs: timeline.nowMs(), runId: run.id, states, after });
  } finally {
    process.isPulling = false;
  }
}
