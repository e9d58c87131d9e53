import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { familyOf, isLoopback, networksOf, normalizeAddress } from '../lib/net/loopback.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { MirrorContext } from '../db/mirror-context.ts';
import { endSession, isSessionEnded } from '../store/users/ended-sessions.ts';
import {
  findUser,
  findUserByToken,
  FIRST_ADMIN,
  type SignedInUser,
  type UserRole,
} from '../store/users/user-store.ts';
import type { Decider } from '../store/users/decision-store.ts';
import type { Problem } from './send.ts';
import { setSessionCookie, isSameSecret, readSession } from './credentials.ts';

/** The person or the program that sends a request. */
export interface RequestUser {
  readonly name: string;
  readonly role: UserRole;
  /** How it was authenticated; `loopback` if no token is set and reads are free. */
  readonly by: 'bearer' | 'cookie' | 'proxy' | 'loopback';
}

export type Access = ReturnType<typeof createAccess>;

export const NOT_SIGNED_IN: Problem = {
  status: 401,
  code: 'http.unauthorized',
  detail: 'A token is required.',
  hint: 'Send Authorization: Bearer TOKEN, or sign in at /login.',
  headers: { 'www-authenticate': 'Bearer realm="bms-sync"' },
};

const WRONG_TOKEN: Problem = {
  ...NOT_SIGNED_IN,
  detail: 'Unknown token.',
  hint: 'Copy the whole token, or have an admin make a new one: bms-sync users rotate NAME.',
};

const WRONG_CODE: Problem = {
  ...NOT_SIGNED_IN,
  code: 'http.code_used',
  detail: 'This link is no longer valid.',
  hint: 'Sign in with a token.',
};

const NO_TOKEN: Problem = {
  ...NOT_SIGNED_IN,
  detail: 'Without ADMIN_TOKEN, nobody can sign in.',
  hint: 'Set it to 32 characters or more, and restart bms-sync serve.',
};

const TOO_MANY: Problem = {
  status: 429,
  code: 'http.too_many_attempts',
  detail: 'Too many wrong tokens from this address.',
};

const LOOPBACK_ONLY: Problem = {
  status: 403,
  code: 'server.loopback_only',
  detail: 'Without ADMIN_TOKEN, the server answers only local requests.',
};

const FORGED_HEADER: Problem = {
  status: 403,
  code: 'http.forged_person',
  detail: 'The header that names the user did not come from the trusted proxy.',
  hint: 'Use the proxy, or add its address to server.trustedHeader.',
};

const NOT_A_USER: Problem = {
  status: 403,
  code: 'http.unknown_person',
  detail: 'The user from the proxy does not exist in bms-sync.',
  hint: 'An admin adds users: bms-sync users add NAME --role ROLE.',
};

const LOOPBACK_USER: RequestUser = { name: 'this machine', role: 'viewer', by: 'loopback' };

/** The settings for signing in. */
export interface SignInSettings {
  /** `ADMIN_TOKEN`; null serves reads only, and only on loopback. */
  readonly token: string | null;
  /** The setting `server.trustedHeader`: in which a proxy names whom it has signed in, from these addresses or networks; null: none does. */
  readonly trustedHeader: { readonly name: string; readonly from: readonly string[] } | null;
}

/**
 * Authenticates callers by the name from a proxy, by a token, or by the cookie that a browser got for one; without an
 * admin token, reads need no sign-in, and the server answers only local requests. `countWrong` counts wrong tokens of a caller's address.
 */
export function createAccess(
  context: MirrorContext,
  settings: SignInSettings,
  signInCode: string,
  countWrong: ReturnType<FastifyInstance['createRateLimit']>,
) {
  const { token, trustedHeader } = settings;
  const { session, clock } = context;
  const proxies = networksOf(trustedHeader?.from ?? []);
  const refuse = async (request: FastifyRequest, refusal: Problem): Promise<Problem> => {
    const counted = await countWrong(request);
    if (counted.isAllowed || !counted.isExceeded) return refusal;
    const seconds = counted.ttlInSeconds;
    return { ...TOO_MANY, hint: `Wait ${seconds} s.`, headers: { 'retry-after': String(seconds) } };
  };
  const findTokenUser = async (credential: string): Promise<SignedInUser | null> =>
    token !== null && isSameSecret(credential, token) ? FIRST_ADMIN : findUserByToken(session, credential);
  const findCookieUser = async (request: FastifyRequest): Promise<SignedInUser | null> => {
    const credential = readSession(request, clock.now());
    if (credential === null || (await isSessionEnded(session, credential.id))) return null;
    const { name, tokenHash } = credential;
    const user = name === FIRST_ADMIN.name ? FIRST_ADMIN : await findUser(session, name);
    return user?.tokenHash === tokenHash ? user : null;
  };
  const findProxyUser = async (proxyUser: string): Promise<RequestUser | Problem> => {
    const name = Buffer.from(proxyUser, 'latin1').toString(); // Node takes each byte of a header for a character.
    return toRequestUser(await findUser(session, name), 'proxy') ?? NOT_A_USER;
  };
  const startSession = async (reply: FastifyReply, user: SignedInUser | null, wrong: Problem) => {
    if (token === null) return NO_TOKEN;
    if (user === null) return await refuse(reply.request, wrong);
    setSessionCookie(reply, user, clock.now());
    return null;
  };
  return {
    /** The caller, or why it is not let in. */
    authenticate: async (request: FastifyRequest): Promise<RequestUser | Problem> => {
      if (token === null) return isLoopback(request.ip) ? LOOPBACK_USER : LOOPBACK_ONLY;
      const proxyUser =
        trustedHeader === null ? '' : (request.headers[trustedHeader.name.toLowerCase()] ?? '');
      if (proxyUser !== '')
        return proxies.check(request.ip, familyOf(request.ip))
          ? await findProxyUser(String(proxyUser))
          : FORGED_HEADER;
      const bearer = /^bearer +(\S.*)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (bearer === undefined)
        return toRequestUser(await findCookieUser(request), 'cookie') ?? NOT_SIGNED_IN;
      return toRequestUser(await findTokenUser(bearer), 'bearer') ?? (await refuse(request, WRONG_TOKEN));
    },
    /** Exchanges a token for a cookie; returns the refusal of a wrong one. */
    signIn: async (reply: FastifyReply, credential: string) =>
      startSession(reply, await findTokenUser(credential), WRONG_TOKEN),
    /** Exchanges the code of a link for a cookie of the first admin. */
    redeem: (reply: FastifyReply, code: string) =>
      startSession(reply, isSameSecret(code, signInCode) ? FIRST_ADMIN : null, WRONG_CODE),
    /** Ends the session of a cookie, so that a copy of it is worth nothing. */
    signOut: async (request: FastifyRequest) => {
      const open = readSession(request, clock.now());
      if (open === null) return;
      const nowSeconds = Math.floor(clock.now().getTime() / 1000);
      await session.atomically((tx) => endSession(tx, open.id, open.untilSeconds, nowSeconds));
    },
  };
}

const RECHECK_MS = 1_000;

/** Returns a function that finds out whether the caller of a long answer is still let in; it asks once a second. */
export function watchCaller(request: FastifyRequest, access: Pick<Access, 'authenticate'>, clock: Clock) {
  let askedMs = -Infinity;
  return async () => {
    if (clock.monotonicMs() - askedMs < RECHECK_MS) return true;
    askedMs = clock.monotonicMs();
    return 'role' in (await access.authenticate(request));
  };
}

const toRequestUser = (user: SignedInUser | null, by: RequestUser['by']): RequestUser | null =>
  user === null ? null : { name: user.name, role: user.role, by };

/** The caller as the person who decides. */
export function deciderOf(request: FastifyRequest, via: Decider['via']): Decider {
  if (request.user === null) throw new Error('A decision came through a route without a user.');
  return { who: request.user.name, role: request.user.role, via };
}

/** Whether a server that listens on this host is reachable by every address of its machine. */
export function isEveryAddress(host: string): boolean {
  return ['0.0.0.0', '::', '*'].includes(normalizeAddress(host));
}
