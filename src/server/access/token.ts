import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two secrets in constant time. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

/** The HMAC of a text, keyed with the token. */
export function sealOf(token: string, text: string): string {
  return createHmac('sha256', token).update(text).digest('base64url');
}

/** The token of an `Authorization: Bearer …` header; null where there is none. */
export function bearerOf(header: string | undefined): string | null {
  return /^bearer +(.+?) *$/i.exec(header ?? '')?.[1] ?? null;
}
