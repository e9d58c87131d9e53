import { packageVersion } from '../lib/package-folder.ts';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { SyncError, errorCode } from '../lib/sync-error.ts';
import type { OpenMark } from '../outbound/freeze.ts';
import { createSignInCodes } from '../http/credentials.ts';
import { createServer } from './create-server.ts';
import { BACKLOG } from '../http/limits.ts';
import type { ServerParts } from '../http/server.ts';
import type { PullParts } from '../pull/run/parts.ts';
import { sendingRules } from './sending-rules.ts';
import { schedulesOf } from './schedules.ts';

export interface HttpParts extends PullParts {
  /** Tells whether this process's writes land in the mirror. */
  readonly writes: ServerParts['writes'];
  readonly mark: OpenMark;
  /** Wakes the engine: rows became due. */
  readonly wakeEngine: () => void;
  /** Called once the server listens. */
  readonly onListening?: ((dashboard: OpenDashboard) => void) | undefined;
  /** Why the last line of the log could not be written; null where it was. */
  readonly logFault?: (() => string | null) | undefined;
  /** The queue's own metrics; absent if there is no queue. */
  readonly queueMetrics?: (() => Promise<string>) | undefined;
}

/** The dashboard of a server that listens. */
export interface OpenDashboard {
  readonly address: string;
  /** Makes an address that signs a browser in once, within ten minutes; a lasting one until the server ends. */
  readonly signInLink: (isLasting?: boolean) => string;
}

/**
 * Starts the HTTP API and returns a function that closes it.
 *
 * @throws {SyncError} `server.token_required`; `server.no_address` if the server cannot listen on the address.
 */
export async function serveHttp(config: Config, parts: HttpParts): Promise<() => Promise<void>> {
  const { session, writes, clock, logger, owner, mark, wakeEngine, queueMetrics, logFault } = parts;
  const { host, names, port, adminToken, trustedHeader } = config.server;
  const codes = createSignInCodes(clock);
  const app = await createServer({
    session,
    writes,
    clock,
    logger,
    host,
    names,
    port,
    trustedHeader,
    wakeEngine,
    sendMark: mark,
    ...(queueMetrics && { queueMetrics }),
    ...(logFault && { logFault }),
    webhooks: sendingRules(config),
    plans: config.plans,
    kinds: allKinds(config),
    token: adminToken,
    version: packageVersion(),
    schedules: schedulesOf(config),
    timezone: config.schedules.timezone,
    language: config.language,
    isDead: owner.isDead,
    codes,
  });
  try {
    const address = await app.listen({ host, port, backlog: BACKLOG });
    logger.info({ address }, 'the HTTP API listens');
    const signInLink = (isLasting?: boolean): string => `${address}/login?code=${codes.issue(isLasting)}`;
    parts.onListening?.({ address, signInLink });
  } catch (error) {
    await app.close();
    const code = errorCode(error);
    const why = REASONS[code] ?? code;
    throw new SyncError(`Nothing can listen on ${host}:${port}${why === '' ? '' : `: ${why}`}.`, {
      code: 'server.no_address',
      hint: 'Set HOST and PORT to an address of this machine that is free (PORT=0 takes any), or leave http out: serve --only pulls,outbound.',
      cause: error,
    });
  }
  return () => app.close();
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'that is no address of this machine',
  ENOTFOUND: 'that host name is not known here',
};
