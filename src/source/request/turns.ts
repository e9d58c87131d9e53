import { createGate } from './gate.ts';
import { createPace } from './pace.ts';
import type { SourceParts, SourceSettings } from '../http/settings.ts';
import type { Width } from '../http/width.ts';

/** Runs when its turn has come: paced, a few at a time. Rejects where the signal fires first. */
export type TakeTurn = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Makes what all requests of a source wait their turn with. */
export function createTurns(
  settings: SourceSettings,
  { clock, width }: Pick<SourceParts, 'clock'> & { readonly width: Pick<Width, 'now'> },
): TakeTurn {
  const gate = createGate(width.now);
  const pace = createPace(settings.requestsPerSecond, clock);

  return async (run, signal) => {
    await gate.enter(signal);
    try {
      await pace(signal);
      return await run();
    } finally {
      gate.leave();
    }
  };
}
