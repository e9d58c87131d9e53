import type { HttpClient, HttpRequest, HttpAnswer } from '../../src/source/http/http.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import { noWrites } from '../support/no-writes.ts';
import { drawFault, meet, networkError } from './faults.ts';
import type { FaultPlan } from './faults.ts';
import { answerTo } from './service.ts';
import type { ServedKind } from './service.ts';
import type { Timeline } from './timeline.ts';
import { CHANGES } from './world.ts';
import type { Change, World } from './world.ts';

export interface NetworkPlan {
  readonly faults: FaultPlan;
  /** Changes of the world for each request, and which. */
  readonly churn: number;
  readonly changes: readonly Change[];
  readonly slowestMs: number;
}

export const CALM: Pick<NetworkPlan, 'faults' | 'churn'> = { faults: { passing: 0, nonsense: 0 }, churn: 0 };
export const USUAL_CHANGES = CHANGES.filter((change) => !/hide|restore|re-sort|detour/.test(change));

export interface NetworkParts {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly served: readonly ServedKind[];
  /** What holds now; a schedule calms down towards its end. */
  readonly plan: () => NetworkPlan;
  readonly trace?: (line: string) => void;
}

const DEADLINE_MS = 30_000;

/** The HTTP port of the simulated service: each request is read at one instant and answered at a later one. */
export function openNetwork(parts: NetworkParts): HttpClient {
  return {
    get: (request, signal) => {
      parts.timeline.stir();
      return new Promise((resolve, reject) => {
        if (signal.aborted) reject(networkError('UND_ERR_ABORTED'));
        else send(parts, request, { resolve, reject, signal });
      });
    },
    send: noWrites,
    destroy: () => Promise.resolve(),
  };
}

interface Waiting {
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** Plans what will happen to a request: its reading, the answer or the fault, and changes of the world meanwhile. */
function send(parts: NetworkParts, request: HttpRequest, { resolve, reject, signal }: Waiting): void {
  const { timeline, random, trace } = parts;
  const { slowestMs, faults } = parts.plan();
  const tookMs = random.chance(0.1) ? random.integer(1, slowestMs * 8) : random.integer(1, slowestMs);
  const readMs = random.integer(0, tookMs);
  const countedMs = random.chance(0.8) ? readMs : random.integer(0, tookMs);
  stirWorld(parts, tookMs);

  const fault = drawFault(random, faults);
  const reading = answerTo(parts.served, request.target);
  const calledOff: (() => void)[] = [];
  const end = (act: () => void): void => {
    for (const callOff of calledOff) callOff();
    signal.removeEventListener('abort', giveUp);
    timeline.stir();
    act();
  };
  const giveUp = (): void => {
    end(() => {
      reject(networkError('UND_ERR_ABORTED'));
    });
  };
  signal.addEventListener('abort', giveUp, { once: true });
  trace?.(`→ ${request.target}`);

  const read = (): void => {
    reading.readRows(timeline.nowMs(), random);
  };
  const count = (): void => {
    reading.readTotal(timeline.nowMs(), random);
  };
  const [first, second] = readMs <= countedMs ? [read, count] : [count, read];
  calledOff.push(timeline.after(Math.min(readMs, countedMs), first));
  calledOff.push(timeline.after(Math.max(readMs, countedMs), second));
  const endMs = fault === 'timeout' ? DEADLINE_MS : tookMs;
  const answer = (): void => {
    const outcome = meet(fault, () => reading.answer(), random);
    trace?.(`← ${request.target} ${outcome instanceof Error ? outcome.message : describe(outcome)}`);
    end(() => {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
  };
  calledOff.push(timeline.after(endMs, answer));
}

/** Changes of the world while a request is under way, at instants of their own. */
function stirWorld({ timeline, random, served, plan }: NetworkParts, tookMs: number): void {
  const { churn, changes } = plan();
  for (let left = churn; left > 0; left--) {
    if (!random.chance(Math.min(left, 1))) continue;
    const { world, change } = drawChange({ served, changes }, random);
    timeline.after(random.integer(0, tookMs), () => {
      world.change(change);
    });
  }
}

/** Some change of some kind's world; only the first kind's service hides what it has. */
export function drawChange(
  { served, changes }: Pick<NetworkParts, 'served'> & Pick<NetworkPlan, 'changes'>,
  random: Random,
): { readonly world: World; readonly change: Change } {
  const change = random.pick(changes);
  const ofFirst = change === 'hide' || change === 'restore' ? served[0] : undefined;
  return { world: (ofFirst ?? random.pick(served)).world, change };
}

const describe = ({ status, bytes }: HttpAnswer): string =>
  `${status} ${Buffer.from(bytes).toString().slice(0, 2000)}`;
