import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedInUser } from '../store/users/user-store.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in constant time. */
export function isSameSecret(candidate: string, secret: string): boolean {
  return timingSafeEqual(sha256(candidate), sha256(secret));
}

export const SESSION_COOKIE = 'bms_sync_session';
const LIFE_SECONDS = 43_200; // A working day; then the form is shown again.

/** Sets the cookie that replaces a token until it expires. It has its end, its user and its id, and is signed with the setting's token. */
export function setSessionCookie(reply: FastifyReply, person: SignedInUser, now: Date): void {
  const until = Math.floor(now.getTime() / 1000) + LIFE_SECONDS;
  const name = Buffer.from(person.nameKey).toString('base64url');
  const id = randomBytes(9).toString('base64url');
  void reply.setCookie(SESSION_COOKIE, `${until}.${name}.${person.tokenHash}.${id}`, {
    path: '/',
    maxAge: LIFE_SECONDS,
    httpOnly: true,
    sameSite: 'strict',
    secure: isByHttps(reply.request),
    signed: true,
  });
}

/** Whether a browser asks over https, as far as its headers show. */
export const isByHttps = (request: FastifyRequest): boolean =>
  request.headers['x-forwarded-proto'] === 'https' || /^https:/.test(request.headers.origin ?? '');

/** Reads the session in a request's cookie; null without a cookie of this mirror, and for an expired one. */
export function readSession(request: FastifyRequest, now: Date) {
  const { valid, value } = request.unsignCookie(request.cookies[SESSION_COOKIE] ?? '');
  const [until, name = '', tokenHash = '', id = ''] = value?.split('.') ?? [];
  if (!valid || id === '' || Number(until) * 1000 <= now.getTime()) return null;
  return { name: Buffer.from(name, 'base64url').toString(), tokenHash, id, untilSeconds: Number(until) };
}

/** Makes a code that signs a browser in by a link as long as this process runs: a token would stay in histories and logs. */
export const createSignInCode = (): string => randomBytes(24).toString('base64url');
