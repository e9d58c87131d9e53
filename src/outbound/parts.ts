import type { Kind } from '../catalog/kind.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import type { Session } from '../mirror/session/session.ts';
import type { Source } from '../source/source.ts';
import type { SendMark } from './freeze.ts';

/** The dependencies of sending. The composition root makes them, and a test may replace any of them. */
export interface OutboundParts {
  readonly session: Session;
  readonly source: Pick<Source, 'write' | 'retrieve' | 'pages'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From 0 up to 1; spreads the waits. */
  readonly random: () => number;
  /** Names this process in the rows that it works. */
  readonly owner: string;
  readonly kinds: readonly Kind[];
  readonly rules: OutboundRules;
  readonly mark: SendMark;
}

/** The settings under `outbound`, and those of other groups that sending needs. */
export interface OutboundRules {
  /** Rest after a send whose outcome is not known. */
  readonly settleSeconds: number;
  /** How long the mirror is searched for such a create before it is sent again. */
  readonly patienceSeconds: number;
  /** When to look for it, counted from the send. */
  readonly lookScheduleSeconds: readonly number[];
  readonly preimageMaxAgeSeconds: number;
  /** Record kind to the field that carries our mark on creates, by its name of a read. */
  readonly markerFields: Readonly<Record<string, string>>;
  /** Record kind to the fields whose changes are no events. */
  readonly ignoreFields: Readonly<Record<string, readonly string[]>>;
}
