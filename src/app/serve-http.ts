import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { SyncError, isOurs, reasonOf } from '../lib/sync-error.ts';
import { createSignInCode } from '../http/credentials.ts';
import { createServer } from './create-server.ts';
import { BACKLOG } from '../http/limits.ts';
import type { ServerSettings, ServingProcess } from '../http/server.ts';
import { sendingRules } from './sending-rules.ts';
import { schedulesOf } from './schedules.ts';

/** The dashboard of a server that listens. */
export interface OpenDashboard {
  readonly address: string;
  /** The address that signs a browser in until the server ends. */
  readonly signInLink: string;
}

/**
 * Starts the HTTP API and returns a function that closes it.
 * @param onListening Called once the server listens.
 * @throws {SyncError} `server.token_required`; `server.no_address` if the server cannot listen on the address.
 */
export async function serveHttp(
  config: Config,
  process: ServingProcess,
  onListening?: (dashboard: OpenDashboard) => void,
): Promise<() => Promise<void>> {
  const { host, port } = config.server;
  const signInCode = createSignInCode();
  const app = await createServer(process, serverSettings(config), signInCode);
  try {
    const address = await app.listen({ host, port, backlog: BACKLOG });
    process.logger.info({ address }, 'the HTTP API listens');
    onListening?.({ address, signInLink: `${address}/login?code=${signInCode}` });
  } catch (error) {
    await app.close();
    if (isOurs(error)) throw error;
    throw new SyncError(`Cannot listen on ${host}:${port}: ${reasonOf(error)}.`, {
      code: 'server.no_address',
      hint: 'Set HOST and PORT to an address of this machine that is free (PORT=0 takes any), or leave http out: serve --only pulls,outbound.',
      cause: error,
    });
  }
  return () => app.close();
}

function serverSettings(config: Config): ServerSettings {
  const { host, names, adminToken, trustedHeader } = config.server;
  return {
    token: adminToken,
    trustedHeader,
    host,
    names,
    kinds: allKinds(config),
    schedules: schedulesOf(config),
    timezone: config.schedules.timezone,
    language: config.language,
    webhooks: sendingRules(config),
    database: { url: config.database.url, readerRole: config.bi.readerRole },
    plans: config.plans,
  };
}
