import type { IncomingHttpHeaders } from 'node:http';
import type { AuthHeader } from '../catalog/kind.ts';

/** The three spellings that the documentation prints (§5); the service is assumed to accept each of them. */
const SPELLINGS: readonly AuthHeader[] = ['Authentication', 'Authorization', 'Authentification'];

export function isAuthentic(headers: IncomingHttpHeaders, token: string): boolean {
  return SPELLINGS.some((spelling) => headers[spelling.toLowerCase()] === `Bearer ${token}`);
}
