import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether two secrets are equal, in a time that tells nothing of where they differ. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

/** What only the holder of the token can say of a text. */
export function sealOf(token: string, text: string): string {
  return createHmac('sha256', token).update(text).digest('base64url');
}

/** The token of an `Authorization: Bearer …` header; null where there is none. */
export function bearerOf(header: string | undefined): string | null {
  return /^bearer +(.+?) *$/i.exec(header ?? '')?.[1] ?? null;
}
