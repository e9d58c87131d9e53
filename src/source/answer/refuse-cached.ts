import { SourceError } from '../http/errors.ts';
import type { HttpAnswer } from '../http/receive.ts';

/** Headers in which a cache says that it answered in place of the service. */
const CACHE_HEADERS = ['x-cache', 'x-cache-status', 'cf-cache-status', 'x-proxy-cache'] as const;

/**
 * Refuses a cached answer: it may be older than one that has landed, and would undo newer facts.
 *
 * @throws {SourceError} cached
 */
export function refuseCached({
  headers,
  where,
}: Pick<HttpAnswer, 'headers'> & { readonly where: string }): void {
  const hit = CACHE_HEADERS.find((name) => /\bhit\b/i.test(String(headers[name] ?? '')));
  const age = Number(headers['age'] ?? 0);
  if (hit === undefined && !(age > 0)) return;
  const got = hit === undefined ? `age ${age}` : `${hit} ${String(headers[hit])}`;
  throw new SourceError(
    'cached',
    `${where}: got an answer from a cache (${got}), expected the service's own`,
    {
      passing: { waitMs: null },
    },
  );
}
