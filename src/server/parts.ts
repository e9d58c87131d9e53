import type { Kind } from '../catalog/kind.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Session } from '../mirror/session/session.ts';
import type { WriteStanding } from '../mirror/session/write-watch.ts';
import type { SendMark } from '../outbound/freeze/freeze.ts';

/** What the HTTP server works with. */
export interface ServerParts {
  readonly session: Session;
  /** Whether what this process writes lands in the mirror. */
  readonly writes: () => WriteStanding;
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** `ADMIN_TOKEN`; null serves reads only, and only on loopback. */
  readonly token: string | null;
  /** The setting `server.host`, which is what the caller listens on. */
  readonly host: string;
  /** The setting `server.names`: what else it is called. */
  readonly names: readonly string[];
  readonly port: number;
  readonly version: string;
  /** How many sends were made from here, which a person's `resume` takes over. */
  readonly sendMark: Pick<SendMark, 'read'>;
  /** Wakes the engine: rows became due. */
  readonly ring?: () => void;
  /** Metrics of the queue as Prometheus reads them. */
  readonly queueMetrics?: () => Promise<string>;
}
