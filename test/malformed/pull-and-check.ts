import { formatInstant } from '../../src/lib/time/clock.ts';
import { SyncError, errorText } from '../../src/lib/sync-error.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { corruptRows, falselyDeleted, readHeld } from './checks.ts';
import { classifyExchange, heldOf, type Held } from './fates.ts';
import { noteSent, TOKEN, type LineOfFire } from './line-of-fire.ts';
import { MOST_REQUESTS, pullOnce, type Doubles, type Pulled, type PullPlan } from './pull-once.ts';
import type { Served } from './true-answers.ts';

export interface ScenarioOptions {
  /** A mirror that `fillMirror` has filled. */
  readonly session: Session;
  readonly doubles?: Doubles;
  readonly trace?: (line: string) => void;
}

/** Everything that a scenario in progress is made of. */
export interface Stage extends ScenarioOptions {
  readonly service: readonly Served[];
  readonly random: Random;
  readonly clock: FakeClock;
  readonly fire: LineOfFire;
  readonly pulls: Pulled[];
  /** Every record that was ever sent. */
  readonly sent: Map<string, Set<string>>;
  readonly answers: { mutation: string; code: string }[];
  readonly problems: string[];
}

/** Longer than any wait between two attempts that the service may ask for. */
const LONGEST_WAIT_MS = 15 * 60_000;

/** Pulls once, and checks whatever must hold after every pull. */
export async function pullAndCheck(stage: Stage, plan: PullPlan): Promise<void> {
  const { session, fire, clock, doubles = {}, pulls, problems, trace } = stage;
  const pulled = await pullOnce({ session, fire, clock, doubles }, plan);
  pulls.push(pulled);
  for (const { target, mutation, shown } of pulled.exchanges)
    trace?.(`  ${target} [${mutation ?? ''}] ${shown}`);
  trace?.(
    `${formatInstant(clock.now())} ${JSON.stringify([...pulled.reports.values()])} ${shownError(pulled.error)}`,
  );
  problems.push(...faultsOfRun(pulled));
  noteSent(stage.sent, pulled.exchanges);
  for (const served of plan.kinds) {
    const held = await readHeld(session, served);
    problems.push(...corruptRows(held, stage.sent.get(served.name) ?? new Set()));
    problems.push(...falselyDeleted(held, served));
    judgeAnswers(stage, pulled, { served, held: heldOf(held) });
  }
}

const shownError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : typeof error;

/** A crash, a hang, a secret: what no answer may ever cause. */
function faultsOfRun({ error, tookMs, exchanges }: Pulled): string[] {
  const isTyped = error === null || error instanceof SyncError;
  const errorShown = error instanceof SyncError ? errorText(error) : '';
  const isLong = exchanges.length >= MOST_REQUESTS || tookMs > exchanges.length * LONGEST_WAIT_MS;
  return [
    ...(isTyped ? [] : [`crash: ${shownError(error)}`]),
    ...(isLong ? [`hang: ${exchanges.length} requests, ${tookMs} ms`] : []),
    ...(errorShown.includes(TOKEN) ? [`token in an error: ${errorShown}`] : []),
  ];
}

function judgeAnswers(
  { answers, problems }: Stage,
  pulled: Pulled,
  { served, held }: { readonly served: Served; readonly held: Held },
): void {
  for (const exchange of pulled.exchanges) {
    if (exchange.served !== served || exchange.mutation === null) continue;
    const { code, problem } = classifyExchange(exchange, pulled, held);
    answers.push({ mutation: exchange.mutation, code });
    if (problem !== null)
      problems.push(`[${exchange.mutation}] ${problem}: ${exchange.target} ${exchange.shown}`);
  }
}
