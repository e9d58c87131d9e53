import { createHash } from 'node:crypto';
import { isObject, tryParseJson } from '../../lib/json/json.ts';

/**
 * Names whose rights an answer shows, without the token: by a digest of the user whom a JWT names (`sub`), which is the same in
 * every token of that user, else of the token.
 */
export const holderOf = (token: string): string =>
  createHash('sha256')
    .update(subjectOf(token) ?? token)
    .digest('hex')
    .slice(0, 16);

function subjectOf(token: string): string | null {
  const [, payload, ...rest] = token.split('.');
  if (payload === undefined || rest.length !== 1) return null;
  const claims = tryParseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  const subject = isObject(claims) ? (claims['sub'] ?? null) : null;
  return subject === null || subject === '' ? null : `sub ${JSON.stringify(subject)}`;
}
