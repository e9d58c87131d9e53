import type { Session, Transaction } from '../../src/mirror/session/session.ts';
import type { OutboundParts } from '../../src/outbound/parts.ts';
import type { Source } from '../../src/source/source.ts';
import { Killed } from '../simulation/watched-session.ts';
import type { Life } from '../simulation/watched-session.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Stage } from './stage.ts';
import { working } from './working.ts';

/** A process: its name in the rows that it works, and whether it lives. */
export interface Mortal {
  readonly owner: string;
  readonly life: Life;
}

/** Comes to a point at which the process may die. */
function reach({ crashes, say }: Stage, { owner, life }: Mortal, point: CrashPoint): void {
  if (life.isOver) throw new Killed();
  if (!crashes.isLast(point)) return;
  say(`† ${owner}: ${point}`);
  life.isOver = true;
  throw new Killed();
}

/** The parts of the outbox's work, in a process that may die around each of its steps. */
export function mortalParts(stage: Stage, mortal: Mortal, parts: OutboundParts): OutboundParts {
  return {
    ...parts,
    session: mortalSession(stage, mortal, parts.session),
    source: mortalSource(stage, mortal, parts.source),
    mark: {
      read: parts.mark.read,
      write: async (sends) => {
        const operation = working.getStore()?.operation ?? 'create';
        reach(stage, mortal, `${operation}: before the mark`);
        await parts.mark.write(sends);
        await pause(stage, mortal);
        reach(stage, mortal, `${operation}: after the mark`);
      },
    },
  };
}

/** Long enough to be taken for dead; long enough to be looked for. */
const PAUSES_MS = [100_000, 3_600_000] as const;

/** The whole machine stops, for so long that the process is taken for dead; then it goes on as if nothing were. */
async function pause({ pauses, dead, timeline, random, say }: Stage, { owner, life }: Mortal): Promise<void> {
  if (!pauses.takes()) return;
  say(`‖ ${owner} stops`);
  dead.add(owner);
  await timeline.clock.sleep(random.pick(PAUSES_MS));
  if (!life.isOver) dead.delete(owner);
}

type Named = 'claim' | 'decide' | 'store' | 'take over';

function nameTransaction(): { readonly prefix: string; readonly name: Named } {
  const inHand = working.getStore();
  if (inHand === undefined) return { prefix: '', name: 'take over' };
  if (inHand.transactions++ === 0) return { prefix: '', name: 'claim' };
  return { prefix: `${inHand.operation}: `, name: inHand.hasWritten ? 'store' : 'decide' };
}

/** Every transaction is a step; nothing is committed by a process that is gone. */
function mortalSession(stage: Stage, mortal: Mortal, session: Session): Session {
  const { timeline } = stage;
  return {
    ...session,
    query: (statement) => {
      timeline.stir();
      if (mortal.life.isOver) return Promise.reject(new Killed());
      return session.query(statement);
    },
    atomically: async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
      const { prefix, name } = nameTransaction();
      const point = `${prefix}${name}, ` as 'claim, ';
      timeline.stir();
      reach(stage, mortal, `${point}before it`);
      const leave = timeline.occupy();
      const result = await session
        .atomically(async (tx) => {
          const done = await work(tx);
          reach(stage, mortal, `${point}before its commit`);
          return done;
        })
        .finally(leave);
      reach(stage, mortal, `${point}after its commit`);
      return result;
    },
  };
}

function mortalSource(stage: Stage, mortal: Mortal, source: Pick<Source, 'write' | 'retrieve' | 'pages'>) {
  const at = (point: CrashPoint): void => {
    reach(stage, mortal, point);
  };
  const reading = (when: 'before' | 'after'): void => {
    const inHand = working.getStore();
    if (inHand === undefined) return;
    if (inHand.operation === 'create') at(`create: ${when} reading the answered record`);
    else if (inHand.hasWritten) at(`update: ${when} reading back`);
    else {
      if (when === 'before') inHand.readSince = stage.timeline.nowMs();
      at(`update: ${when} reading`);
    }
  };
  const whole: OutboundParts['source'] = {
    write: mortalWrite(stage, mortal, source),
    retrieve: async (...asked) => {
      reading('before');
      const retrieved = await source.retrieve(...asked);
      reading('after');
      return retrieved;
    },
    pages: async function* (...asked) {
      reading('before');
      yield* source.pages(...asked);
      reading('after');
    },
  };
  return whole;
}

/** A write, in a process that may die before, during and after it. */
export function mortalWrite(stage: Stage, mortal: Mortal, source: Pick<Source, 'write'>): Source['write'] {
  return async (request, options) => {
    const { operation } = request;
    reach(stage, mortal, `${operation}: before the send`);
    const answered = source.write(request, options);
    answered.catch(() => undefined); // A process that dies meanwhile does not hear it.
    await left(stage, mortal);
    reach(stage, mortal, `${operation}: after the send has left`);
    const answer = await answered;
    await pause(stage, mortal);
    reach(stage, mortal, `${operation}: after the answer`);
    return answer;
  };
}

/** The send is on its way once the loop has turned a few times. */
async function left({ timeline }: Stage, { life }: Mortal): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    timeline.stir();
    await Promise.resolve();
  }
  if (life.isOver) throw new Killed();
}
