import type { Random } from '../../sandbox/generate/draw.ts';
import { refusal, type Answer } from './answers.ts';
import { askForSweep, pushCreate } from './applications.ts';
import { HOUR } from './lasting.ts';
import type { Send } from './service.ts';
import type { Stage } from './stage.ts';
import type { Personality } from './traits.ts';

const MINUTE = 60_000;
const DAYS = 5;
const CREATES_A_DAY = 4;

/** Day after day the service makes what we send, so that it is known how soon its lists show that. */
export async function createDaily(stage: Stage): Promise<void> {
  const { service, timeline, personality } = stage;
  if (personality.late === 'never') return;
  service.calm();
  for (let number = 0; number < DAYS * CREATES_A_DAY; number++) {
    await pushCreate(stage, 200 + number);
    if (number % CREATES_A_DAY !== CREATES_A_DAY - 1) continue;
    await timeline.clock.sleep(20 * MINUTE);
    await askForSweep(stage);
    await timeline.clock.sleep(24 * HOUR);
  }
  service.rouse();
}

/** When a service with long queues is down: it answers creates with its own failure, and lists not at all. */
export interface Outage {
  fromMs: number;
  untilMs: number;
}

interface Late {
  readonly personality: Personality;
  readonly random: Random;
  readonly outage: Outage;
}

/** How much later a create is carried out that failed, or nobody heard of; null = as drawn. */
export function latenessOf(
  { personality: { late }, random, outage }: Late,
  { operation, atMs }: Send,
  outcome: Send['outcome'],
): number | null {
  if (late === 'never' || operation === 'update') return null;
  const hoursMs = random.integer(1, 20) * HOUR;
  if (late === 'failures where no create is answered') return outcome === 'refused' ? hoursMs : 0;
  if (outcome === 'answered') return null;
  if (late === 'lost sends') return outcome === 'lost' ? hoursMs : null;
  if (outage.fromMs === Infinity)
    Object.assign(outage, { fromMs: atMs, untilMs: atMs + random.integer(2, 16) * HOUR });
  const leftMs = Math.max(0, outage.untilMs - atMs);
  return outcome === 'lost' ? leftMs + hoursMs / 5 : leftMs + random.integer(1, 40) * MINUTE;
}

export const isOut = ({ fromMs, untilMs }: Outage, atMs: number): boolean => atMs >= fromMs && atMs < untilMs;

/** What a GET comes to meanwhile. */
export const outageAnswer = (personality: Personality, atMs: number): Answer =>
  refusal({ ...personality, refusal: 'as HTML of an intermediary', refusedWith: '503' }, atMs);

/** After so long everything is carried out that ever will be. */
export const latestMs = ({ late }: Personality): number => (late === 'never' ? 0 : 21 * HOUR);
