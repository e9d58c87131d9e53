import { compactJson } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { grade } from '../../src/outbound/attempt/grade.ts';
import { openSource } from '../../src/source/source.ts';
import type { Source } from '../../src/source/source.ts';
import { Killed } from '../simulation/watched-session.ts';
import { openWritableNetwork } from './network.ts';
import { actAsPerson, wishCreate, wishUpdate } from './people.ts';
import type { Wish } from './people.ts';
import { mortalWrite } from './process.ts';
import type { Mortal } from './process.ts';
import { bar, later, times } from './run-schedule.ts';
import type { Schedule } from './schedule.ts';
import { SOURCE_SETTINGS, logger } from './settings.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { working } from './working.ts';

/** A job as a queue with `attempts: 3` keeps it. */
interface Job extends Wish {
  readonly entry: number;
  attempts: number;
  end: 'done' | 'failed' | null;
  /** The record that the answer named. */
  took: string | null;
}

/** What the plain policy has made of a schedule. */
export interface PlainOutcome {
  readonly entries: number;
  /** Intents that made more than one record. */
  readonly doubled: number;
  /** Intents that failed, or are called done, without a record; and updates that do not hold. */
  readonly lost: number;
  readonly strangers: number;
}

const ATTEMPTS = 3;
const REST_MS = 5_000;

/** Plays a schedule as a queue would that tries every job again on any error, three times, and keeps no journal. */
export async function playPlainly(schedule: Schedule, session: Session): Promise<PlainOutcome> {
  const stage = setStage(schedule, { session });
  const jobs: Job[] = [];
  const work = async (): Promise<void> => {
    for (let spell = 0; spell < schedule.barredSpells; spell++) bar(stage);
    const pushed = [
      ...times(schedule.creates, (number) =>
        later(stage, () => push(stage, jobs, wishCreate(stage, number))),
      ),
      ...times(schedule.updates, (number) =>
        later(stage, () => push(stage, jobs, plainUpdate(stage, schedule.creates + number))),
      ),
      ...times(schedule.peoplesActs, (number) =>
        later(stage, () => {
          actAsPerson(stage, number);
        }),
      ),
    ];
    await Promise.all(pushed);
    await stage.timeline.clock.sleep(schedule.latestCommitMs + 3_600_000);
  };
  await stage.timeline.drive(work());
  return outcomeOf(stage, jobs);
}

function plainUpdate(stage: Stage, number: number): Wish | null {
  const service = stage.random.pick(stage.services);
  return wishUpdate(stage, { service, ids: service.world.ids(), number });
}

async function push(stage: Stage, jobs: Job[], wish: Wish | null): Promise<void> {
  if (wish === null) return;
  const job: Job = { ...wish, entry: jobs.length + 1, attempts: 0, end: null, took: null };
  jobs.push(job);
  while (job.end === null) await tryOnce(stage, job);
}

/** A process that dies is one more attempt: the queue finds the job stalled and hands it out again. */
async function tryOnce(stage: Stage, job: Job): Promise<void> {
  const mortal: Mortal = { owner: `plain-${job.entry}`, life: { left: null, isOver: false } };
  job.attempts++;
  const random = (): number => stage.random.integer(0, 999_999) / 1_000_000;
  const parts = { clock: stage.timeline.clock, logger, random };
  const source = openSource(SOURCE_SETTINGS, {
    ...parts,
    openHttp: () => openWritableNetwork(stage, mortal.life),
  });
  try {
    const record = await send(mortalWrite(stage, mortal, source), job);
    job.end = record === undefined ? null : 'done';
    job.took = record ?? null;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
  if (job.end !== null) return;
  if (job.attempts >= ATTEMPTS) job.end = 'failed';
  await stage.timeline.clock.sleep(REST_MS);
}

/** The id of the record where the service says that it did it, undefined where anything went wrong. */
async function send(
  write: Source['write'],
  { entry, attempts, operation, service, body, recordId }: Job,
): Promise<string | null | undefined> {
  const inHand = { entry, epoch: attempts, operation, transactions: 0, hasWritten: false, readSince: null };
  const request = { kind: service.world.kind, operation, id: recordId, body: compactJson(body) };
  const graded = grade(await working.run(inHand, () => write(request)));
  if (graded.is !== 'accepted' || (operation === 'create' && graded.record === null)) return undefined;
  const id = graded.record?.['id'];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
}

function outcomeOf({ sends, services }: Stage, jobs: readonly Job[]): PlainOutcome {
  const madeBy = ({ entry }: Job): string[] =>
    services.flatMap(({ world }) =>
      world.deeds.flatMap(({ is, doer, id }) =>
        is === 'created' && typeof doer === 'object' && sends[doer.send]?.entry === entry ? [id] : [],
      ),
    );
  const creates = jobs.filter(({ operation }) => operation === 'create');
  const wrote = ({ entry }: Job): boolean =>
    sends.some((send) => send.entry === entry && send.committed !== null);
  const isUpdateLost = (job: Job): boolean => job.operation === 'update' && job.end === 'done' && !wrote(job);
  return {
    entries: jobs.length,
    doubled: creates.filter((job) => madeBy(job).length > 1).length,
    lost:
      creates.filter((job) => madeBy(job).length === 0 && !wasRefused(sends, job)).length +
      jobs.filter(isUpdateLost).length,
    strangers: creates.filter((job) => job.took !== null && !madeBy(job).includes(job.took)).length,
  };
}

/** Told by the service in its own words that it will not: then nothing is lost. */
const wasRefused = (sends: Stage['sends'], { entry }: Job): boolean =>
  sends.some((send) => send.entry === entry && send.fate.startsWith('422'));
