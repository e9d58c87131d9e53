import type { ListedKind } from '../../src/catalog/kind.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import type { OutboundRules } from '../../src/outbound/parts.ts';
import { TOGETHER } from '../../src/pull/land/land-pages.ts';
import type { PullRequest } from '../../src/pull/pull-kinds.ts';
import type { SourceSettings } from '../../src/source/http/http.ts';
import { canary } from '../support/canary.ts';
import { KEEP_ALL } from '../support/retention.ts';

/** Pages wait for each other by a timer of the process, which no virtual time moves: here each lands by itself. */
TOGETHER.most = 1;

export const BASE_URL = 'http://service';
export const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

export const SOURCE_SETTINGS: SourceSettings = {
  ...{ baseUrl: BASE_URL, token: canary('-simulated'), concurrency: 4, timeoutSeconds: 30 },
  ...{ requestsPerSecond: null, maxAttempts: 5, maxBodyBytes: 1e7, authHeaders: 'all', proxyUrl: null },
};

/** The defaults of the settings. */
export const RULES: OutboundRules = {
  settleSeconds: 300,
  patienceSeconds: 86_400,
  ignoreFields: {},
};

export function pullRequest({
  kinds,
  runId,
}: {
  readonly kinds: readonly ListedKind[];
  readonly runId: number;
}): PullRequest {
  return {
    ...{ kinds, runId, baseUrl: BASE_URL, acceptNewSource: false, retention: KEEP_ALL },
    deletions: { graceSeconds: 900, holdAbove: { rows: 1_000_000, share: 1 } },
    ...{ repeatBelowPages: 20, digestScope: 'simulation', ignoreFields: {} },
  };
}
