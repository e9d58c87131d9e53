import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { DeletionRules } from '../../diff/plan-deletions.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { Session } from '../../db/session/session.ts';
import type { Source } from '../../source/source.ts';
import { isRunning, processPlace } from '../../lib/is-running.ts';

/** The dependencies of a pull. The composition root makes them, and a test may replace any of them. */
export interface PullParts {
  readonly session: Session;
  readonly source: Source;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names this process in leases and runs. */
  readonly owner: Owner;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** The settings that a reading goes by. */
export interface ReadingRules {
  readonly deletions: DeletionRules;
  /** Lists with fewer pages are read again at once where something waits for a certificate. */
  readonly repeatBelowPages: number;
  /** Identifies the token: records visible to one token may be hidden from another. */
  readonly digestScope: string;
  /** Record kind to the fields whose changes are no events. */
  readonly ignoreFields: Readonly<Record<string, readonly string[]>>;
}

export interface Owner {
  readonly name: string;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (name: string) => boolean;
}

export interface Progress {
  readonly kind: string;
  readonly pages: number;
  /** The last page that the service has named; null = unknown. */
  readonly lastPage: number | null;
  /** Records that were read; left out where only pages are counted. */
  readonly rows?: number;
}

/**
 * Names this process. Host and process number are for the reader of a message; two containers may share both. So a process
 * is judged by its number only where that number means it: by a process that runs in the same place. The life of any other
 * is its lease.
 */
export function createOwner(): Owner {
  const place = processPlace();
  const name = [hostname(), process.pid, place ?? 'unknown', randomUUID().slice(0, 8)].join(':');
  return {
    name,
    isDead: (other) => {
      const [, pid, otherPlace] = other.split(':');
      if (other === name || place === null || otherPlace !== place) return false;
      return Number(pid) === process.pid || !isRunning(Number(pid)); // Of our own number there can have been only another one before us.
    },
  };
}
