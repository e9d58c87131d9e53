import type { Attempt } from '../../src/mirror/outbox/attempts-and-links.ts';
import type { Entry } from '../../src/mirror/outbox/outbox-store.ts';
import type { ChangeRow, Dump } from '../simulation/dump.ts';
import type { RecordedPull } from '../simulation/recording.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Send } from './network.ts';
import type { Schedule } from './schedule.ts';
import type { Intent, Service } from './stage.ts';

/** All that is left of a schedule: the truth, and what the outbox and the mirror made of it. */
export interface Recording {
  readonly schedule: Schedule;
  readonly services: readonly Service[];
  readonly sends: readonly Send[];
  readonly entries: readonly EntryRecord[];
  readonly pulls: readonly RecordedPull[];
  readonly changes: readonly ChangeRow[];
  readonly final: Dump;
  readonly reached: ReadonlySet<CrashPoint>;
  /** The instant at which the schedule began, in milliseconds since 1970. */
  readonly originMs: number;
  readonly restMs: number;
}

export interface EntryRecord {
  readonly entry: Entry;
  readonly intent: Intent;
  readonly attempts: readonly Attempt[];
}
