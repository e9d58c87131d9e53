import type { DeletionRules } from '../diff/absence.ts';
import type { ProcessContext } from '../db/mirror-context.ts';
import type { Retention } from './retention.ts';
import type { Source } from '../source/source.ts';

/** The dependencies of a pull. The composition root makes them, and a test may replace any of them. */
export interface PullParts extends ProcessContext {
  readonly source: Source;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** The settings that a reading goes by. */
export interface ReadingRules {
  readonly deletions: DeletionRules;
  /** Lists with fewer pages are read again at once where something waits for a certificate. */
  readonly repeatBelowPages: number;
  /** Fields whose changes create no events, per record kind. */
  readonly ignoreFields: Readonly<Record<string, readonly string[]>>;
}

/** The settings of every pull and backfill. */
export interface PullSettings extends ReadingRules {
  readonly baseUrl: string;
  readonly retention: Retention;
}

export interface Progress {
  readonly kind: string;
  readonly pages: number;
  /** The last page that the service has named; null = unknown. */
  readonly lastPage: number | null;
  /** Records that were read; left out where only pages are counted. */
  readonly rows?: number;
  /** How many other kinds are under way. */
  readonly others?: number;
}
