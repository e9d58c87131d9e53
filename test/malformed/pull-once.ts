import type { Session } from '../../src/db/session/session.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { SyncError } from '../../src/lib/sync-error.ts';
import { pullKinds, type PullReport } from '../../src/pull/sweep/pull-kinds.ts';
import type { KindReport } from '../../src/store/runs/run-store.ts';
import type { HttpClient } from '../../src/source/http/http.ts';
import { openSource } from '../../src/source/source.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { TOKEN, type Exchange, type LineOfFire } from './line-of-fire.ts';
import type { Served } from './true-answers.ts';
import { KEEP_ALL } from '../support/retention.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';

/** Stand-ins with a fault, each made of the real part. */
export interface Doubles {
  readonly http?: (client: HttpClient) => HttpClient;
  readonly session?: (session: Session) => Session;
}

export interface PullingParts {
  readonly session: Session;
  readonly fire: LineOfFire;
  readonly clock: FakeClock;
  readonly doubles: Doubles;
}

export interface PullPlan {
  readonly kinds: readonly Served[];
  readonly concurrency: number;
}

/** One pull: what it was answered, and what it made of it. */
export interface Pulled extends PullPlan {
  readonly exchanges: readonly Exchange[];
  readonly reports: ReadonlyMap<string, KindReport>;
  /** What ended the run; null where nothing did. */
  readonly error: unknown;
  readonly atMs: number;
  readonly tookMs: number;
}

export const GRACE_SECONDS = 900;
/** Three readings of three short lists with every attempt used up, and the questions for what is absent: far fewer. */
export const MOST_REQUESTS = 1500;

const BASE_URL = 'http://service';
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

const RULES = {
  baseUrl: BASE_URL,
  acceptNewSource: false,
  retention: KEEP_ALL,
  deletions: { graceSeconds: GRACE_SECONDS, holdAbove: { rows: 5, share: 0.02 } },
  repeatBelowPages: 20,
  ignoreFields: {},
};

/** Pulls once; a fault of the service is a report, and any other error is part of what is handed back. */
export async function pullOnce(parts: PullingParts, plan: PullPlan): Promise<Pulled> {
  const { fire, clock } = parts;
  const first = fire.exchanges.length;
  const atMs = clock.now().getTime();
  const startMs = clock.monotonicMs();
  fire.left = MOST_REQUESTS;
  const { report, error } = await attempt(parts, plan);
  return {
    ...plan,
    exchanges: fire.exchanges.slice(first),
    reports: new Map(report?.kinds.map((kind) => [kind.kind, kind])),
    error,
    atMs,
    tookMs: clock.monotonicMs() - startMs,
  };
}

interface Attempt {
  readonly report: PullReport | null;
  readonly error: unknown;
}

async function attempt(parts: PullingParts, { kinds, concurrency }: PullPlan): Promise<Attempt> {
  const { session, fire, clock, doubles } = parts;
  const settings = { ...SOURCE_SETTINGS, baseUrl: BASE_URL, token: TOKEN, concurrency, maxAttempts: 3 };
  const openHttp = (): HttpClient => doubles.http?.(fire.client) ?? fire.client;
  await using source = openSource(settings, { clock, logger, random: () => 0.5, openHttp });
  const owner = 'malformed';
  const pulling = { session: doubles.session?.(session) ?? session, source, clock, logger, owner };
  try {
    const report = await pullKinds(pulling, { kinds: kinds.map(({ kind }) => kind), ...RULES });
    return { report, error: null };
  } catch (error) {
    return { report: null, error };
  }
}

/** What became of a kind, as a stable word. */
export function outcomeOf({ reports, error }: Pulled, kind: string): string {
  if (error instanceof SyncError) return error.code;
  const report = reports.get(kind);
  return report === undefined ? 'not pulled' : (report.reason ?? report.state);
}
