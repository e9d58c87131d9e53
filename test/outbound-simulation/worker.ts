import { sql } from 'drizzle-orm';
import type { WorkRef } from '../../src/lib/work-queue.ts';
import { instantOf } from '../../src/lib/time/clock.ts';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import { claimRun, requestedRuns } from '../../src/mirror/runs/run-requests.ts';
import { freezeIfRestored } from '../../src/outbound/freeze.ts';
import type { OutboundParts } from '../../src/outbound/parts.ts';
import { startStopwatch } from '../../src/outbound/stopwatch.ts';
import { outboxWork } from '../../src/outbound/send/outbox-work.ts';
import type { OutboxWork } from '../../src/outbound/send/outbox-work.ts';
import { pullKinds } from '../../src/pull/pull-kinds.ts';
import { openSource } from '../../src/source/source.ts';
import type { Source } from '../../src/source/source.ts';
import { dumpMirror } from '../simulation/dump.ts';
import { Killed, watchedSession } from '../simulation/watched-session.ts';
import { openWritableNetwork } from './network.ts';
import { mortalParts } from './process.ts';
import type { Mortal } from './process.ts';
import { SOURCE_SETTINGS, logger, pullRequest } from './settings.ts';
import type { Stage } from './stage.ts';
import { working } from './working.ts';

interface Worker extends Mortal {
  readonly stage: Stage;
  readonly source: Source;
  readonly parts: OutboundParts;
  readonly outbox: OutboxWork;
  /** Work under way. */
  readonly running: Set<Promise<void>>;
  /** Entries that it is on: taken for dead in a pause, it may find them due again. */
  readonly inHand: Set<number>;
  isPulling: boolean;
  tookOverMs: number;
  /** Looks at one instant: work that changes nothing wakes everybody at once, and would have them go on for ever. */
  readonly looks: { atMs: number; count: number };
}

/** Works the outbox and the sweeps until the schedule is over, or until the process dies where the schedule says so. */
export async function liveAsWorker(stage: Stage, mortal: Mortal): Promise<void> {
  const worker = createWorker(stage, mortal);
  const { life, running, source } = worker;
  try {
    await freezeIfRestored(worker.parts.session, {
      mark: stage.mark,
      now: stage.timeline.clock.now(),
      logger,
    });
    while (!stage.isOver && !life.isOver) await look(worker);
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
  if (life.isOver) stage.remains.push(source.close().then(() => ended(running)));
  else await ended(running).then(() => source.close());
}

async function ended(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.all(running);
}

function createWorker(stage: Stage, mortal: Mortal): Worker {
  const { timeline, random } = stage;
  const fraction = (): number => random.integer(0, 999_999) / 1_000_000;
  const source = openSource(SOURCE_SETTINGS, {
    ...{ clock: timeline.clock, logger, random: fraction },
    openHttp: () => openWritableNetwork(stage, mortal.life),
  });
  const parts = mortalParts(stage, mortal, {
    ...{
      session: stage.session,
      source,
      clock: timeline.clock,
      logger,
      kinds: LISTED_KINDS,
      mark: stage.mark,
    },
    ...{ owner: mortal.owner, rules: stage.rules, random: fraction },
    watch: startStopwatch(timeline.clock),
  });
  return {
    ...mortal,
    stage,
    source,
    parts,
    outbox: outboxWork(parts),
    running: new Set(),
    inHand: new Set(),
    isPulling: false,
    tookOverMs: -Infinity,
    looks: { atMs: -Infinity, count: 0 },
  };
}

const TAKE_OVER_EVERY_MS = 15_000;
const MOST_LOOKS = 1_000;

function noteLook(looks: Worker['looks'], nowMs: number): void {
  if (nowMs > looks.atMs) Object.assign(looks, { atMs: nowMs, count: 0 });
  looks.count += 1;
  if (looks.count > MOST_LOOKS) throw new Error(`${MOST_LOOKS} looks at one instant, and still more is due`);
}

/** One look at what is to be done, and a rest until there may be more. */
async function look(worker: Worker): Promise<void> {
  const { stage, outbox, running, inHand, owner } = worker;
  const { session, timeline, dead, wakeUp } = stage;
  noteLook(worker.looks, timeline.nowMs());
  if (dead.size > 0 && timeline.nowMs() - worker.tookOverMs >= TAKE_OVER_EVERY_MS) {
    worker.tookOverMs = timeline.nowMs();
    await outbox.takeOver((other) => other !== owner && dead.has(other));
  }
  for (const due of await outbox.due(20)) if (!inHand.has(due.id)) await begin(worker, due);
  const [run] = worker.isPulling ? [] : await requestedRuns(session, timeline.clock.now(), 1);
  if (run !== undefined) {
    worker.isPulling = true;
    hold(worker, pull(worker, run));
  }
  await wakeUp.rest(running.size > 0 ? LOOK_AGAIN_MS : await restMs(worker));
}

async function begin(worker: Worker, due: WorkRef): Promise<void> {
  const { stage, outbox, inHand } = worker;
  const isRaised = stage.random.chance(0.05);
  const raised = isRaised ? await outbox.raise(due) : null;
  const refs = [due]; // In vain where it was raised.
  if (raised !== null) refs.push(raised);
  if (stage.random.chance(0.1)) refs.push(due); // A notification that comes twice.
  inHand.add(due.id);
  const works = refs.map((ref) => work(worker, ref));
  for (const each of works) hold(worker, each);
  void Promise.allSettled(works).then(() => inHand.delete(due.id));
}

function work({ stage, outbox }: Worker, due: WorkRef): Promise<void> {
  const operation = stage.intents.get(due.id)?.operation ?? 'create';
  const inHand = { entry: due.id, epoch: due.epoch, operation, transactions: 0, hasWritten: false };
  return working.run({ ...inHand, readSince: null }, () => outbox.work(due));
}

/** Keeps hold of work; a process that dies of it dies as a whole. */
function hold({ running, stage, life }: Worker, work: Promise<void>): void {
  const held = work
    .catch((error: unknown) => {
      if (!(error instanceof Killed) && !life.isOver) stage.fail(error);
    })
    .finally(() => {
      running.delete(held);
      stage.wakeUp.wake();
    });
  running.add(held);
}

/** Work that ends refs. */
const LOOK_AGAIN_MS = 10_000;
const LONGEST_REST_MS = 4 * 3_600_000;

/** Until an entry is due; whoever adds one refs. */
async function restMs({ stage: { session, timeline } }: Worker): Promise<number> {
  const [row] = await session.query(sql`
    select min(next_attempt_at) as at from outbox
    where owner is null and next_attempt_at is not null and state in ('ready', 'unsettled', 'done')`);
  const at = row?.['at'];
  if (typeof at !== 'string') return LONGEST_REST_MS;
  const waitMs = instantOf(at).getTime() - timeline.clock.now().getTime();
  return Math.min(LONGEST_REST_MS, Math.max(1_000, waitMs));
}

async function pull(worker: Worker, run: WorkRef): Promise<void> {
  const { stage, source, owner, life } = worker;
  const { session, timeline, pulls } = stage;
  try {
    const claim = { ...run, owner, now: timeline.clock.now() };
    const names = await session.atomically((tx) => claimRun(tx, claim));
    if (names === null) return;
    stage.dying.take(life);
    const kinds = stage.kinds.filter(({ name }) => names.includes(name));
    const fromMs = timeline.nowMs();
    const parts = {
      session: watchedSession(session, timeline, life),
      ...{ source, clock: timeline.clock, logger },
      owner: { name: owner, isDead: (other: string) => stage.dead.has(other) },
    };
    const request = { ...pullRequest({ kinds, runId: run.id }), ...stage.pullSettings };
    const report = await pullKinds(parts, request).catch((error: unknown) => {
      if (life.isOver) return null;
      throw error;
    });
    stage.say(`— pull ${run.id} ${JSON.stringify(report?.kinds ?? 'killed')}`);
    await session.atomically(async (tx) => {
      const after = await dumpMirror(tx, stage.kinds);
      const states = new Map(report?.kinds.map(({ kind, state, reason }) => [kind, reason ?? state]));
      pulls.push({ fromMs, toMs: timeline.nowMs(), runId: run.id, states, isDead: report === null, after });
    });
  } finally {
    worker.isPulling = false;
    life.left = null;
  }
}
