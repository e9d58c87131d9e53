import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/time/clock.ts';
import type { Problem } from '../answer/send.ts';
import { hasSession, isSameSecret, sessionCookie } from './credentials.ts';
import type { SignInCodes } from './credentials.ts';

/** How a caller was authenticated; `loopback` if no token is set and reads are free. */
export type Caller = 'bearer' | 'cookie' | 'loopback';

type AccessDecision = { readonly caller: Caller } | { readonly refusal: Problem };

export interface Access {
  readonly hasToken: boolean;
  readonly judge: (request: FastifyRequest) => AccessDecision;
  /** Exchanges the token for a cookie. */
  readonly signIn: (request: FastifyRequest, given: string) => SignedIn;
  /** Exchanges a code that signs in once for a cookie. */
  readonly redeem: (request: FastifyRequest, code: string) => SignedIn;
}

type SignedIn = { readonly cookie: string } | { readonly refusal: Problem };

const UNKNOWN: Problem = {
  status: 401,
  code: 'http.unauthorized',
  detail: 'This needs the admin token.',
  hint: 'Send Authorization: Bearer ADMIN_TOKEN, or sign in at /login.',
  headers: { 'www-authenticate': 'Bearer realm="bms-sync"' },
};

const WRONG: Problem = { ...UNKNOWN, detail: 'That is not the admin token.' };

const USED: Problem = {
  ...{ ...UNKNOWN, code: 'http.code_used', detail: 'This link was used already, or is too old.' },
  hint: 'Take a new one, or the admin token.',
};

const NO_TOKEN: Problem = { ...UNKNOWN, detail: 'There is no ADMIN_TOKEN to sign in with.' };

const NOT_HERE: Problem = {
  status: 403,
  code: 'server.loopback_only',
  detail: 'Without ADMIN_TOKEN, only this machine is answered.',
};

interface AccessParts {
  /** Null: reads are free, and only this machine is answered. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly codes: Pick<SignInCodes, 'redeem'>;
}

/** Authenticates callers by the token, or by the cookie that a browser got for it; without a token, by their address. */
export function createAccess({ token, clock, codes }: AccessParts): Access {
  const attempts = createAttempts(clock);
  const refuse = (address: string, refusal: Problem): Problem => {
    const wait = attempts.fail(address);
    return wait > 0 ? tooMany(wait) : refusal;
  };
  const tryToken = (address: string, given: string, expected: string): Problem | null =>
    isSameSecret(given, expected) ? null : refuse(address, WRONG);
  return {
    hasToken: token !== null,
    judge: ({ headers, ip }) => {
      if (token === null) return isLoopback(ip) ? { caller: 'loopback' } : { refusal: NOT_HERE };
      const bearer = bearerOf(headers.authorization);
      if (bearer !== null) {
        const refusal = tryToken(ip, bearer, token);
        return refusal === null ? { caller: 'bearer' } : { refusal };
      }
      const isKnown = hasSession(headers.cookie, { token, now: clock.now() });
      return isKnown ? { caller: 'cookie' } : { refusal: UNKNOWN };
    },
    signIn: (request, given) => {
      if (token === null) return { refusal: NO_TOKEN };
      const refusal = tryToken(request.ip, given, token);
      return refusal === null ? { cookie: cookieFor(request, { token, now: clock.now() }) } : { refusal };
    },
    redeem: (request, code) => {
      if (token === null) return { refusal: NO_TOKEN };
      if (!codes.redeem(code)) return { refusal: refuse(request.ip, USED) };
      return { cookie: cookieFor(request, { token, now: clock.now() }) };
    },
  };
}

function cookieFor(
  { headers }: FastifyRequest,
  session: { readonly token: string; readonly now: Date },
): string {
  const isSecure = headers['x-forwarded-proto'] === 'https' || /^https:/.test(headers.origin ?? '');
  return sessionCookie({ ...session, isSecure });
}

function tooMany(seconds: number): Problem {
  return {
    status: 429,
    code: 'http.too_many_attempts',
    detail: 'Too many wrong tokens came from this address.',
    hint: `Wait ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

/** The token of an `Authorization: Bearer …` header; null where there is none. */
function bearerOf(header: string | undefined): string | null {
  return /^bearer +(.+?) *$/i.exec(header ?? '')?.[1] ?? null;
}

interface Attempts {
  /** Counts a wrong token; returns the seconds to wait before the next attempt, 0 after only a few wrong ones. */
  readonly fail: (address: string) => number;
}

const WINDOW_MS = 60_000;
/**
 * From this attempt on, each wrong token makes the client wait, longer each time. The right token is always accepted, because
 * other clients may share its address.
 */
const FREE_ATTEMPTS = 20;
const REMEMBERED = 10_000;

interface Failures {
  readonly since: number;
  readonly count: number;
}

/** Counts wrong tokens by the address that they come from. */
export function createAttempts(clock: Pick<Clock, 'monotonicMs'>): Attempts {
  const failures = new Map<string, Failures>();
  const recent = (network: string): Failures | null => {
    const known = failures.get(network);
    return known !== undefined && clock.monotonicMs() - known.since < WINDOW_MS ? known : null;
  };
  const secondsLeft = ({ since }: Failures): number =>
    Math.max(1, Math.ceil((since + WINDOW_MS - clock.monotonicMs()) / 1000));
  return {
    fail: (address) => {
      const network = networkOf(address);
      const { since, count } = recent(network) ?? { since: clock.monotonicMs(), count: 0 };
      const now = { since, count: count + 1 };
      failures.delete(network); // The map keeps the order of the latest failures.
      failures.set(network, now);
      const [oldest] = failures.keys();
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest);
      const excess = now.count - FREE_ATTEMPTS;
      return excess < 0 ? 0 : Math.min(2 ** excess, secondsLeft(now));
    },
  };
}

/** One caller may have all the IPv6 addresses of a /64. */
function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const [left, right] = [head.split(':'), tail.split(':')].map((some) => some.filter((part) => part !== ''));
  const zeros = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  return [...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(':');
}

/** Whether an address or a host name is a loopback one, which no other machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = plainAddress(host);
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/** Whether a server that listens on this host is reachable by every address of its machine. */
export function isEveryAddress(host: string): boolean {
  return ['0.0.0.0', '::', '*'].includes(plainAddress(host));
}

/** A host in lower case without a URL's brackets; IPv4 in IPv6 becomes IPv4. */
export function plainAddress(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const mapped = bare.replace(/^::ffff:(?=\d+\.)/, '');
  return isIPv4(mapped) ? mapped : bare;
}
