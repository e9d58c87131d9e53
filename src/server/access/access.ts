import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import type { Problem } from '../answer/problem.ts';
import { createAttempts } from './attempts.ts';
import { isLoopback } from './loopback.ts';
import { hasSession, sessionCookie } from './session-cookie.ts';
import { bearerOf, isSameSecret } from './token.ts';

/** How a caller was authenticated; `loopback` if no token is set and reads are free. */
export type Caller = 'bearer' | 'cookie' | 'loopback';

type AccessDecision = { readonly caller: Caller } | { readonly refusal: Problem };

/** Authenticates callers. */
export interface Access {
  readonly hasToken: boolean;
  readonly judge: (request: FastifyRequest) => AccessDecision;
  /** Exchanges the token for a cookie. */
  readonly signIn: (
    request: FastifyRequest,
    given: string,
  ) => { readonly cookie: string } | { readonly refusal: Problem };
}

const UNKNOWN: Problem = {
  status: 401,
  code: 'http.unauthorized',
  detail: 'This needs the admin token.',
  hint: 'Send Authorization: Bearer ADMIN_TOKEN, or sign in at /login.',
  headers: { 'www-authenticate': 'Bearer realm="bms-sync"' },
};

const WRONG: Problem = { ...UNKNOWN, detail: 'That is not the admin token.' };

const NOT_HERE: Problem = {
  status: 403,
  code: 'server.loopback_only',
  detail: 'Without ADMIN_TOKEN, only this machine is answered.',
};

export function createAccess(token: string | null, clock: Clock): Access {
  const attempts = createAttempts(clock);
  const tryToken = (address: string, given: string, expected: string): Problem | null => {
    if (isSameSecret(given, expected)) return null;
    const wait = attempts.fail(address);
    return wait > 0 ? tooMany(wait) : WRONG;
  };
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
    signIn: ({ headers, ip }, given) => {
      if (token === null)
        return { refusal: { ...UNKNOWN, detail: 'There is no ADMIN_TOKEN to sign in with.' } };
      const refusal = tryToken(ip, given, token);
      if (refusal !== null) return { refusal };
      const isSecure = headers['x-forwarded-proto'] === 'https' || /^https:/.test(headers.origin ?? '');
      return { cookie: sessionCookie({ token, now: clock.now(), isSecure }) };
    },
  };
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
