import { onTestFinished, vi } from 'vitest';
import { clients } from '../../src/catalog/kinds/clients.ts';
import { categories } from '../../src/catalog/kinds/categories.ts';
import {
  isListed,
  isRetrievable,
  type Kind,
  type ListedKind,
  type RetrievableKind,
} from '../../src/catalog/kind.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { openSource, type Source } from '../../src/source/source.ts';
import type { SourceParts, SourceSettings } from '../../src/source/http/http.ts';
import type { ListResponse } from '../../src/source/paging/list-responses.ts';
import { canary } from '../support/canary.ts';
import { fakeClock, type FakeClock } from '../support/fake-clock.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';

export const TOKEN = canary('-that-nobody-may-see');

function readable(kind: Kind): ListedKind & RetrievableKind {
  if (!isListed(kind) || !isRetrievable(kind)) throw new Error(`${kind.name} cannot be read both ways`);
  return kind;
}

/** A kind with documented paging, and one without. */
export const documentedKind = readable(clients);
export const byAnswerKind = readable(categories);

export interface Opened {
  readonly source: Source;
  readonly clock: FakeClock;
  /** Everything that was logged. */
  readonly log: () => string;
}

/** Opens a source on a fake clock; it is closed when the test ends. */
export function open(
  baseUrl: string,
  settings: Partial<SourceSettings> = {},
  openHttp?: SourceParts['openHttp'],
): Opened {
  const lines: string[] = [];
  const clock = fakeClock();
  const destination = { write: (line: string) => void lines.push(line) };
  const source = openSource(
    { ...SOURCE_SETTINGS, timeoutSeconds: 60, maxBodyBytes: 1e6, baseUrl, token: TOKEN, ...settings },
    {
      clock,
      logger: createLogger({ level: 'debug', secrets: [], destination }),
      random: () => 0.5,
      ...(openHttp && { openHttp }),
    },
  );
  onTestFinished(() => source.close());
  return { source, clock, log: () => lines.join('') };
}

/** Lets the deadlines of this test run out once something has happened, at once and not before. */
export function deadlinesAfter(event: Promise<unknown>): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  void event.then(() => vi.advanceTimersByTime(60_000));
}

export function ticker(): () => number {
  let tick = 0;
  return () => ++tick;
}

export async function sweepAll(
  source: Source,
  kind: ListedKind = documentedKind,
  thorough = false,
): Promise<ListResponse[]> {
  const responses: ListResponse[] = [];
  for await (const response of source.sweep(kind, { thorough, tick: ticker() })) responses.push(response);
  return responses;
}
