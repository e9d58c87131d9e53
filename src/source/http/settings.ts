import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { HttpClient } from './http.ts';

/** The settings under `source`. */
export interface SourceSettings {
  /** May have a path of its own; list paths are appended to it. */
  readonly baseUrl: string;
  readonly token: string;
  /** Requests under way at once, over all kinds. */
  readonly concurrency: number;
  readonly requestsPerSecond: number | null;
  /** Total deadline of one attempt, from connecting to the last byte. */
  readonly timeoutSeconds: number;
  readonly maxAttempts: number;
  readonly maxBodyBytes: number;
  /** Headers that carry the token: the three spellings of §5, the one documented for the endpoint, or these. */
  readonly authHeaders: 'all' | 'documented' | readonly string[];
  readonly proxyUrl: string | null;
}

export interface SourceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 up to 1; spreads the waits between attempts. */
  readonly random?: () => number;
  /** Replaces the HTTP client in tests. */
  readonly openHttp?: (settings: SourceSettings) => HttpClient;
}
