import { hash } from 'node:crypto';
import { compactJson, isObject, tryParseJson } from '../../lib/json/json.ts';

/**
 * Names whose rights an answer shows, without the token: by a digest of what a JWT claims of its user (`sub`, and the rest, such as
 * scopes), which is the same in every such token of that user, else of the token.
 */
export const holderOf = (token: string): string => hash('sha256', claimsOf(token) ?? token).slice(0, 16);

/** The claims that differ between tokens with the same rights: their times, and their number. */
const OF_ONE_TOKEN = new Set(['iat', 'exp', 'nbf', 'auth_time', 'jti']);

function claimsOf(token: string): string | null {
  const [, payload, ...rest] = token.split('.');
  if (payload === undefined || rest.length !== 1) return null;
  const claims = tryParseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  if (!isObject(claims) || (claims['sub'] ?? '') === '') return null;
  const lasting = Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.has(name));
  return compactJson(lasting.sort(([a], [b]) => (a < b ? -1 : 1)));
}
