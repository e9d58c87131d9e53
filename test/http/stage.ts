import { MESSAGES } from '../../src/feature-hooks.ts';
import { onTestFinished } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import type { Session } from '../../src/db/session/session.ts';
import { createServer } from '../../src/app/create-server.ts';
import { createSignInCode } from '../../src/http/credentials.ts';
import { BACKLOG } from '../../src/http/limits.ts';
import type { Server, ServerSettings, ServingProcess } from '../../src/http/server.ts';
import { canary } from '../support/canary.ts';

/** A token that would be found wherever it leaked. */
export const TOKEN = `canary-${canary('-7f3d9b2e4c6a8d1f5e3b7a9c2d4f6e8b')}`;

export interface Stage {
  readonly app: Server;
  readonly url: string;
  /** The `Host` of the server. */
  readonly host: string;
  /** Every line that was logged. */
  readonly log: string[];
  /** How often the engine was woken. */
  readonly wakes: () => number;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly post: (
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>;
}

export interface StageParts extends Partial<ServingProcess>, Partial<ServerSettings> {
  readonly signInCode?: string;
}

/** Settings under which nothing is sent and nobody need approve. */
export const DEFAULTS = {
  token: TOKEN,
  trustedHeader: null,
  host: '127.0.0.1',
  names: [],
  schedules: [],
  timezone: 'UTC',
  language: 'en',
  webhooks: {
    allowHosts: [],
    messages: MESSAGES,
    mail: { url: null, from: null },
    publicUrl: null,
    language: 'en',
    timezone: 'UTC',
  },
  plans: { approvals: 0 },
  database: { url: 'file:', readerRole: null },
} as const satisfies Partial<ServerSettings>;

/** Serves a mirror over HTTP until the test ends; `get` and `post` carry the token. */
export async function serveMirror(session: Session, parts: StageParts = {}): Promise<Stage> {
  const log: string[] = [];
  let wakes = 0;
  const logger = createLogger({
    level: 'trace',
    secrets: [], // What keeps the token out of the log is here not its mask.
    destination: { write: (line) => void log.push(line) },
  });
  const kinds: readonly Kind[] = KINDS.filter(({ name }) => ['clients', 'products'].includes(name));
  const process: ServingProcess = {
    session,
    clock: systemClock,
    logger,
    writes: () => ({ pendingMs: 0, lastLandedAt: null, fault: null }),
    sendCounter: { read: () => Promise.resolve(0) },
    wakeEngine: () => (wakes += 1),
    ...parts,
  };
  const settings = { ...DEFAULTS, kinds, ...parts };
  const app = await createServer(process, settings, parts.signInCode ?? createSignInCode());
  onTestFinished(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG });
  const auth = { authorization: `Bearer ${parts.token ?? TOKEN}` };
  return {
    app,
    url,
    log,
    host: new URL(url).host,
    wakes: () => wakes,
    get: (path, headers) => fetch(`${url}${path}`, { headers: { ...auth, ...headers } }),
    post: (path, body, headers) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          ...auth,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

/** Every route, as `GET /v1/runs/{id}`. */
export const describedRoutes = (stage: Stage): readonly string[] =>
  Object.entries(stage.app.swagger().paths as Readonly<Record<string, object>>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

/** Signs in and returns the cookie, as a browser would send it. */
export async function signIn({ url }: Stage, token = TOKEN): Promise<string> {
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  });
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

export const jsonOf = async (answer: Response): Promise<Record<string, unknown>> =>
  (await answer.json()) as Record<string, unknown>;
