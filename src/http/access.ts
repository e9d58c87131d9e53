import { isIPv4 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../lib/time/clock.ts';
import type { Problem } from './send.ts';
import { giveSession, hasSession, isSameSecret } from './credentials.ts';
import type { SignInCodes } from './credentials.ts';

/** How a caller was authenticated; `loopback` if no token is set and reads are free. */
export type Caller = 'bearer' | 'cookie' | 'loopback';

export interface Access {
  readonly hasToken: boolean;
  /** The caller's authentication, or why there is none. */
  readonly judge: (request: FastifyRequest) => Promise<Caller | Problem>;
  /** Exchanges the token for a cookie; returns the refusal of a wrong one. */
  readonly signIn: (reply: FastifyReply, given: string) => Promise<Problem | null>;
  /** Exchanges a code that signs in once for a cookie. */
  readonly redeem: (reply: FastifyReply, code: string) => Promise<Problem | null>;
}

const UNKNOWN: Problem = {
  status: 401,
  code: 'http.unauthorized',
  detail: 'This needs the admin token.',
  hint: 'Send Authorization: Bearer ADMIN_TOKEN, or sign in at /login.',
  headers: { 'www-authenticate': 'Bearer realm="bms-sync"' },
};

const WRONG: Problem = { ...UNKNOWN, detail: 'That is not the admin token.' };

const USED: Problem = {
  ...UNKNOWN,
  code: 'http.code_used',
  detail: 'This link was used already, or is too old.',
  hint: 'Take a new one, or the admin token.',
};

const NO_TOKEN: Problem = { ...UNKNOWN, detail: 'There is no ADMIN_TOKEN to sign in with.' };

const TOO_MANY: Problem = {
  status: 429,
  code: 'http.too_many_attempts',
  detail: 'Too many wrong tokens came from this address.',
};

const NOT_HERE: Problem = {
  status: 403,
  code: 'server.loopback_only',
  detail: 'Without ADMIN_TOKEN, only this machine is answered.',
};

/**
 * Authenticates callers by the token, or by the cookie that a browser got for it; without a token, reads are free, and only this
 * machine is answered. `countWrong` counts wrong tokens of a caller's address.
 */
export function createAccess(
  token: string | null,
  clock: Clock,
  codes: SignInCodes,
  countWrong: ReturnType<FastifyInstance['createRateLimit']>,
): Access {
  const refuse = async (request: FastifyRequest, refusal: Problem): Promise<Problem> => {
    const counted = await countWrong(request);
    if (counted.isAllowed || !counted.isExceeded) return refusal;
    const seconds = counted.ttlInSeconds;
    return { ...TOO_MANY, hint: `Wait ${seconds} s.`, headers: { 'retry-after': String(seconds) } };
  };
  const giveCookie = async (
    reply: FastifyReply,
    wrong: Problem,
    isRight: (token: string) => boolean,
  ): Promise<Problem | null> => {
    if (token === null) return NO_TOKEN;
    if (!isRight(token)) return await refuse(reply.request, wrong);
    giveSession(reply, clock.now());
    return null;
  };
  return {
    hasToken: token !== null,
    judge: async (request) => {
      if (token === null) return isLoopback(request.ip) ? 'loopback' : NOT_HERE;
      const bearer = /^bearer +(.+?) *$/i.exec(request.headers.authorization ?? '')?.[1];
      if (bearer === undefined) return hasSession(request, clock.now()) ? 'cookie' : UNKNOWN;
      return isSameSecret(bearer, token) ? 'bearer' : await refuse(request, WRONG);
    },
    signIn: (reply, given) => giveCookie(reply, WRONG, (secret) => isSameSecret(given, secret)),
    redeem: (reply, code) => giveCookie(reply, USED, () => codes.redeem(code)),
  };
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
