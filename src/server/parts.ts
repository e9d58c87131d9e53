import type { Kind } from '../catalog/kind.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Session } from '../mirror/session/session.ts';
import type { WriteStanding } from '../mirror/session/write-watch.ts';
import type { SendMark } from '../outbound/freeze/freeze.ts';

/** The dependencies of the HTTP server. */
export interface ServerParts {
  readonly session: Session;
  /** Tells whether this process's writes land in the mirror. */
  readonly writes: () => WriteStanding;
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** `ADMIN_TOKEN`; null serves reads only, and only on loopback. */
  readonly token: string | null;
  /** The setting `server.host`: the address that the caller listens on. */
  readonly host: string;
  /** The setting `server.names`: further host names of the server. */
  readonly names: readonly string[];
  readonly port: number;
  readonly version: string;
  /** The mark that counts the sends; `resume` raises the database's own count to it. */
  readonly sendMark: Pick<SendMark, 'read'>;
  /** Wakes the engine: rows became due. */
  readonly ring?: () => void;
  /** Metrics of the queue as Prometheus reads them. */
  readonly queueMetrics?: () => Promise<string>;
}
