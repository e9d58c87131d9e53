import type { Queryable } from '../../mirror/session/session.ts';
import { listEndpoints } from '../../mirror/webhooks/endpoint-store.ts';
import type { EndpointStanding } from '../../mirror/webhooks/endpoint-store.ts';

/** An endpoint as commands and the HTTP API show it: without its secret, and without what its owner works with. */
export type EndpointDocument = Pick<EndpointStanding, (typeof SHOWN)[number]>;

const SHOWN = [
  ...(['name', 'url', 'kinds', 'changes', 'fields', 'format', 'source'] as const),
  ...(['state', 'health', 'disabledReason', 'failures', 'failingSince', 'notBefore'] as const),
  ...(['cursor', 'replayAfter', 'pending', 'pendingSince', 'deliveredAt', 'createdAt'] as const),
];

/** All endpoints for people and programs, by name. */
export async function endpointDocuments(db: Queryable): Promise<EndpointDocument[]> {
  return (await listEndpoints(db)).map((endpoint) => {
    const shown = SHOWN.map((name) => [name, name === 'url' ? shownUrl(endpoint) : endpoint[name]]);
    return Object.fromEntries(shown) as EndpointDocument;
  });
}

/** The address of a chat room is its secret: only its host is shown. Of other addresses the query may be one. */
export function shownUrl({ url, format }: Pick<EndpointStanding, 'url' | 'format'>): string {
  const { origin, pathname, search } = new URL(url);
  if (format === 'slack' || format === 'teams') return `${origin}/…`;
  return search === '' ? origin + pathname : `${origin}${pathname}?…`;
}
