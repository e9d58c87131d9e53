import type { AddressInfo } from 'node:net';
import { systemClock } from '../src/lib/time/clock.ts';
import { SyncError, UsageError, errorCode } from '../src/lib/sync-error.ts';
import type { Envelopes } from './answer.ts';
import type { Fault } from './faults.ts';
import { armFaults, applyFault } from './inject-faults.ts';
import { createSandboxServer, type LoggedRequest } from './server.ts';
import { createService } from './service.ts';
import { LARGEST_SIZE, createWorld, type World, type WorldOptions } from './world.ts';

export interface SandboxOptions extends Partial<WorldOptions> {
  /** Any free one, by default. */
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly envelopes?: Envelopes;
  readonly faults?: readonly Fault[];
}

export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** The truth, to read and to change between requests. */
  readonly world: World;
  readonly requests: readonly LoggedRequest[];
  setFaults(faults: readonly Fault[]): void;
  close(): Promise<void>;
}

const DEFAULTS = {
  port: 0,
  host: '127.0.0.1',
  size: 500,
  seed: 1,
  token: 'sandbox-token',
  systemId: 7,
  envelopes: 'documented',
  faults: [],
} as const;

/** Starts the service of docs/service.md as a local server, with a company of records that can be read and changed. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = { ...DEFAULTS, ...options };
  const { size } = settings;
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_SIZE)
    throw new UsageError(`The sandbox can have 1 to ${LARGEST_SIZE} clients, not ${size}.`, {
      code: 'sandbox.size',
    });
  const world = createWorld(settings);
  const serve = createService(world, settings.envelopes);
  const closing = new AbortController();
  let strike = armFaults(settings.faults);

  const { app, requests } = createSandboxServer(settings.token, async (request) => {
    const { latencyMs, action } = strike(request);
    const beforeMs = action && 'commitAfterMs' in action ? action.commitAfterMs : 0;
    await systemClock.sleep(latencyMs + beforeMs, closing.signal); // Whether the client still waits or not.
    const answer = action ? applyFault(serve, action)(request) : serve(request);
    await systemClock.sleep(action && 'holdMs' in action ? action.holdMs : 0, closing.signal);
    return answer;
  });
  await app.listen({ host: settings.host, port: settings.port }).catch((error: unknown) => {
    const code = errorCode(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const message = `Port ${settings.port} ${code === 'EACCES' ? 'may not be opened by this user' : 'is taken'}.`;
    throw new SyncError(message, {
      code: 'sandbox.port',
      hint: '--port 0 takes any free one.',
      cause: error,
    });
  });

  const close = async (): Promise<void> => {
    app.server.closeAllConnections(); // First, so that no answer still gets out.
    closing.abort();
    await app.close();
  };
  return {
    url: `http://${settings.host}:${(app.server.address() as AddressInfo).port}`,
    token: settings.token,
    world,
    requests,
    setFaults: (next) => {
      strike = armFaults(next);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
