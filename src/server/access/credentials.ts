import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../lib/time/clock.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in constant time. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

/** The name of the cookie. */
export const SESSION_COOKIE = 'bms_sync_session';
const LIFE_SECONDS = 43_200; // A working day; then the form is shown again.

const sealed = (token: string, until: string): string =>
  createHmac('sha256', token).update(`bms-sync session until ${until}`).digest('base64url');

interface CookieRequest {
  readonly token: string;
  readonly now: Date;
  /** Whether the browser came by https. */
  readonly isSecure: boolean;
}

/** Creates the `Set-Cookie` that replaces the token until it expires; the token cannot be derived from it. */
export function sessionCookie({ token, now, isSecure }: CookieRequest): string {
  const until = String(Math.floor(now.getTime() / 1000) + LIFE_SECONDS);
  const value = `${until}.${sealed(token, until)}`;
  const flags = `Path=/; Max-Age=${LIFE_SECONDS}; HttpOnly; SameSite=Strict`;
  return `${SESSION_COOKIE}=${value}; ${flags}${isSecure ? '; Secure' : ''}`;
}

/** Whether a `Cookie` header has a cookie of ours that has not expired. */
export function hasSession(
  header: string | undefined,
  { token, now }: Omit<CookieRequest, 'isSecure'>,
): boolean {
  const prefix = `${SESSION_COOKIE}=`;
  const cookies = (header ?? '').split(';').map((cookie) => cookie.trim());
  const value = cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length) ?? '';
  const [, until, seal] = /^(\d{1,15})\.([\w-]{43})$/.exec(value) ?? [];
  if (until === undefined || seal === undefined) return false;
  return isSameSecret(seal, sealed(token, until)) && Number(until) * 1000 > now.getTime();
}

/** Codes that sign a browser in once, so that a link needs no token. */
export interface SignInCodes {
  /** Makes a code that is good once, for ten minutes. */
  readonly issue: () => string;
  /** Uses a code up; false if it is unknown, used or too old. */
  readonly redeem: (code: string) => boolean;
}

const LIFE_MS = 600_000;
const MOST = 100;

/** Keeps codes in the memory of this process, as hashes. */
export function createSignInCodes(clock: Pick<Clock, 'monotonicMs'>): SignInCodes {
  const until = new Map<string, number>();
  return {
    issue: () => {
      const code = randomBytes(24).toString('base64url');
      const [oldest] = until.keys();
      if (until.size >= MOST && oldest !== undefined) until.delete(oldest);
      until.set(hashOf(code), clock.monotonicMs() + LIFE_MS);
      return code;
    },
    redeem: (code) => {
      const hash = hashOf(code);
      const end = until.get(hash);
      until.delete(hash);
      return end !== undefined && clock.monotonicMs() < end;
    },
  };
}

const hashOf = (code: string): string => digest(code).toString('base64');
