import { onTestFinished } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { createFreshnessTask, type FreshnessRules } from '../../../src/pull/freshness/keep-fresh.ts';
import type { PullParts } from '../../../src/pull/parts.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { Session } from '../../../src/db/session/session.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { RULES, logger, openSandboxSource } from '../support.ts';

export interface Reader {
  readonly service: Sandbox;
  readonly session: Session;
  readonly clock: FakeClock;
  readonly name?: string;
  readonly rules?: Partial<FreshnessRules>;
  readonly parts?: Partial<PullParts>;
}

/** What a process that reads between sweeps is made of. */
export function partsOf({ service, session, clock, name = 'one', parts }: Reader): PullParts {
  const source = openSandboxSource(service, clock);
  onTestFinished(() => source.close());
  return { session, source, clock, logger, owner: name, ...parts };
}

/** The task of a process that reads between sweeps, by the rules that serve has where nothing is set. */
export function readerOf(reader: Reader): () => Promise<void> {
  return createFreshnessTask(partsOf(reader), {
    kinds: LISTED_KINDS,
    requestsPerMinute: 10,
    baseUrl: reader.service.url,
    rules: RULES,
    ...reader.rules,
  });
}

const STEP_MS = 1000;

/** Lets time pass with some readers at work, side by side. */
export async function passTime(
  clock: FakeClock,
  ms: number,
  readers: readonly (() => Promise<void>)[],
): Promise<void> {
  for (const end = clock.monotonicMs() + ms; clock.monotonicMs() < end;) {
    await Promise.all(readers.map((read) => read()));
    await clock.sleep(STEP_MS);
  }
}
