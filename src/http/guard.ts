import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UsageError } from '../lib/sync-error.ts';
import { isRoleAllowed, type UserRole } from '../store/users/user-store.ts';
import { sendProblem, wantsPage, type Problem } from './send.ts';
import type { RouteContext, Server, ServerSettings } from './server.ts';
import { isLoopback, normalizeAddress } from '../lib/net/loopback.ts';
import { isEveryAddress, type RequestUser } from './access.ts';

/** @throws {UsageError} `server.token_required` if other machines could reach a server without authentication. */
export function requireToken(settings: ServerSettings): void {
  if (settings.token !== null || (isLoopback(settings.host) && settings.trustedHeader === null)) return;
  throw new UsageError(
    `The server would be reached from other machines (${settings.host}) without a token.`,
    {
      code: 'server.token_required',
      hint: 'Set ADMIN_TOKEN (to make one: openssl rand -hex 32), or HOST to 127.0.0.1.',
    },
  );
}

/** The content of a sign-in form. */
export interface SignIn {
  readonly refusal?: Problem;
  readonly next?: string;
  /** A form was sent whose session had ended: it was not read. */
  readonly wasSent?: boolean;
  /** Requests the page again: the browser does not send a strict cookie when a link of another site was followed. */
  readonly shouldReload?: boolean;
}

/** Refuses unknown callers and callers without the required role, except on routes that are marked as open. */
export function guardRequests(
  app: Server,
  context: RouteContext,
  sendSignIn: (reply: FastifyReply, signIn: SignIn) => FastifyReply,
  sendProblemPage: (reply: FastifyReply, problem: Problem) => FastifyReply,
): void {
  app.decorateRequest('user', null);
  app.decorateRequest('entryId', null);
  app.addHook('onRequest', async (request, reply) => {
    const refusal = await findRefusal(request, context);
    if (refusal === null) return;
    const { method, url, routeOptions } = request;
    const isPage = routeOptions.config.signsIn === true || (request.is404 && wantsPage(request));
    if (!isPage) return sendProblem(reply, refusal);
    if (![401, 429].includes(refusal.status)) return sendProblemPage(reply, refusal);
    const { 'sec-fetch-site': from, cookie } = request.headers;
    const shouldReload = method === 'GET' && from === 'cross-site' && cookie === undefined;
    const next = method === 'GET' ? url : formPath(request);
    return sendSignIn(reply, {
      refusal,
      shouldReload,
      wasSent: method === 'POST',
      ...(next !== '/' && { next }),
    });
  });
}

/** The page of ours that a form was sent from. */
function formPath({ headers: { referer = '', host } }: FastifyRequest): string {
  const page = URL.parse(referer);
  return page !== null && page.host === host ? page.pathname + page.search : '/';
}

async function findRefusal(request: FastifyRequest, context: RouteContext): Promise<Problem | null> {
  const { headers, routeOptions } = request;
  const { publicUrl } = context.webhooks;
  const wrongHost = checkHosts(request, context);
  if (wrongHost !== null) return wrongHost;
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(request.method);
  if (routeOptions.config.open !== true) {
    const authentication = await context.access.authenticate(request);
    if (!('role' in authentication)) return authentication;
    request.user = authentication;
    if (context.token === null && !isRead) return READ_ONLY;
    const minimumRole = requiredRole(request, isRead);
    if (!isRoleAllowed(authentication.role, minimumRole)) return forbidden(authentication, minimumRole);
  }
  if (isRead) return null;
  if (headers.origin !== undefined && headers.origin === publicUrl) return null; // A proxy may send its own Host.
  return originRefusal(headers.origin, headers.host ?? '', isByBrowser(request.user));
}

function checkHosts(request: FastifyRequest, context: RouteContext): Problem | null {
  if ((request.raw.headersDistinct['host'] ?? []).length > 1) return BAD_HOST; // Node takes the first, a proxy perhaps the last.
  return request.routeOptions.config.isProbe === true ? null : findHostRefusal(request, context);
}

/** Refuses a request under a host name that is not ours. */
export function findHostRefusal({ headers }: FastifyRequest, context: RouteContext): Problem | null {
  const { host, names, webhooks } = context;
  const publicName = webhooks.publicUrl === null ? [] : [new URL(webhooks.publicUrl).hostname];
  return hostRefusal(headers.host, { host, names: names.concat(publicName) });
}

const isByBrowser = (user: RequestUser | null): boolean => user?.by === 'cookie' || user?.by === 'proxy';

/** Routes without a role require admin for changes. */
const requiredRole = (request: FastifyRequest, isRead: boolean): UserRole =>
  request.routeOptions.config.role ?? (isRead || request.is404 ? 'viewer' : 'admin');

const forbidden = (user: RequestUser, minimumRole: UserRole): Problem => ({
  status: 403,
  code: 'http.forbidden',
  detail: `This needs the role ${minimumRole}; ${user.name} is ${user.role}.`,
  hint: `An admin can change the role: bms-sync users role "${user.name}" ${minimumRole}.`,
});

const READ_ONLY: Problem = {
  status: 403,
  code: 'server.read_only',
  detail: 'Changes need ADMIN_TOKEN.',
  hint: 'Set ADMIN_TOKEN to 32 characters or more, or use the command line.',
};

const BAD_HOST: Problem = {
  status: 400,
  code: 'http.bad_host',
  detail: 'The Host header is missing, malformed or sent twice.',
};

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
const HOST = /^(\[[\da-f:.]+\]|[^:[\]\s@/\\]+)(?::\d{1,5})?$/i;

/**
 * Refuses a request that names another host: a web page whose name was made to resolve to this machine (DNS rebinding) sends
 * its own name. Ports are not compared, since tunnels and containers change them. A server that listens on every address accepts
 * any IP address, because it does not know all of its own, and an address cannot be rebound like a name.
 */
export function hostRefusal(
  header: string | undefined,
  { host, names }: { readonly host: string; readonly names: readonly string[] },
): Problem | null {
  const name = HOST.exec(header ?? '')?.[1];
  if (name === undefined) return BAD_HOST;
  const requestedHost = normalizeAddress(name);
  if ([...LOOPBACK_NAMES, ...[host, ...names].map(normalizeAddress)].includes(requestedHost)) return null;
  if (isEveryAddress(host) && isIP(requestedHost) !== 0) return null;
  return {
    status: 421,
    code: 'http.foreign_host',
    detail: 'This server does not answer under that host name.',
    hint: 'Use the name or address in server.host, or localhost; or add the name to server.names.',
  };
}

const FOREIGN: Problem = {
  status: 403,
  code: 'http.foreign_origin',
  detail: 'The request came from a page of another origin.',
};

const NO_ORIGIN: Problem = {
  ...FOREIGN,
  detail: 'Changes with a cookie or through a proxy need the Origin header.',
  apiHint: 'Use a bearer token.',
};

/**
 * Refuses a change that a foreign page requested. Browsers send cookies by themselves, to us or to the proxy that signs in, so a
 * change that is authenticated by one must name its origin.
 */
function originRefusal(origin: string | undefined, host: string, needsOrigin: boolean): Problem | null {
  if (origin === undefined) return needsOrigin ? NO_ORIGIN : null;
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return FOREIGN;
  return URL.parse(`${url.protocol}//${host}`)?.host === url.host ? null : FOREIGN;
}
