import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import * as z from 'zod';
import { instant, type DocumentOf } from '../../lib/json/document.ts';
import { LANGUAGES } from '../../lib/text/translator.ts';
import { isPublicHost } from '../../lib/net/guarded-connector.ts';
import { isAllowedHost, targetFault } from '../../lib/net/target-url.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { select } from '../../db/rows/rows.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { WEBHOOK_ENDPOINTS } from '../../store/tables/webhook-tables.ts';
import type { UserRole } from '../../store/users/user-store.ts';
import * as store from './endpoint-store.ts';

/** An endpoint with its secret, which is shown this once. */
export type RevealedSecret = Awaited<ReturnType<typeof addEndpoint>>;

/**
 * Adds an endpoint, which gets the events from now on.
 * @throws {UsageError} `webhooks.refused` if its URL may not be sent to. @throws {SyncError} `webhooks.name_taken`.
 */
export async function addEndpoint(
  session: Session,
  input: store.EndpointInput,
  { allowHosts, now }: { readonly allowHosts: readonly string[]; readonly now: Date },
) {
  const { name, url, format } = input;
  if (format === 'email') refuseAddress(url);
  else await refuseTarget(url, allowHosts);
  const secret = newSecret();
  await session.atomically(async (tx) => {
    const endpointId = await store.insertEndpoint(tx, input, randomBytes(12).toString('hex'), now);
    if (endpointId === null)
      throw new SyncError(`The webhook endpoint ${name} already exists.`, {
        code: 'webhooks.name_taken',
        hint: `Choose another name, or run: bms-sync webhooks remove ${name}`,
      });
    await store.saveSecret(tx, endpointId, secret, now);
  });
  return { name, url, secret };
}

/** An e-mail URL has exactly one address, without a name and without headers. */
function refuseAddress(url: string): void {
  if (/^mailto:[^\s@,;:<>?%"()/\\]+@[^\s@,;:<>?%"()/\\]+$/.test(url)) return;
  throw new UsageError('An e-mail receiver needs a URL such as mailto:anna@example.com.', {
    code: 'webhooks.refused',
    hint: 'Use one address per receiver: each has its own language.',
  });
}

/** @throws {UsageError} `webhooks.refused`; a name that cannot be resolved now is judged at every delivery. */
async function refuseTarget(url: string, allowHosts: readonly string[]): Promise<void> {
  let fault = targetFault(url, allowHosts);
  if (fault === null) {
    const { hostname } = new URL(url);
    if (isAllowedHost(hostname, allowHosts) || (await isPublicHost(hostname)) !== false) return;
    fault = `${hostname} resolves to an address that is not public`;
  }
  throw new UsageError(`Nothing is sent to this URL: ${fault}.`, {
    code: 'webhooks.refused',
    hint: 'Use a public https URL, or add the host to the setting webhooks.allowHosts; mailto:… needs the format email.',
  });
}

/** A secret in the form of Standard Webhooks. */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** @throws {SyncError} `webhooks.absent` if there is no such endpoint. */
export async function requireEndpoint(db: Queryable, name: string): Promise<WebhookEndpoint> {
  const endpoints = await select(db, WEBHOOK_ENDPOINTS, sql`order by name`);
  const endpoint = endpoints.find((each) => each.name === name);
  if (endpoint !== undefined) return endpoint;
  const known = endpoints.map((each) => each.name);
  const guess = didYouMean(name, known);
  throw new SyncError(`Unknown webhook endpoint ${name}${guess || '.'}`, {
    code: 'webhooks.absent',
    hint: 'bms-sync webhooks list shows them.',
  });
}

export const FORMATS = ['json', 'slack', 'teams', 'text', 'email'] as const;

const names = z.array(z.string()).nullable();

/** An endpoint as commands and the HTTP API show it: without its secret and its owner's columns. */
const endpoint = z.object({
  name: z.string(),
  url: z.string().describe('for admins without its query; else, and of a chat room, only the origin'),
  kinds: names,
  changes: names,
  fields: names,
  format: z.enum(FORMATS),
  language: z.enum(LANGUAGES).nullable(),
  state: z.enum(['active', 'disabled']),
  health: z.enum(['healthy', 'failing', 'disabled']),
  disabledReason: z.string().nullable(),
  failures: z.int().describe('attempts since the last success'),
  failingSince: instant.nullable(),
  notBefore: instant.nullable().describe('the receiver has asked for a pause until then'),
  cursor: z.int().describe('the events up to here were taken into deliveries'),
  replayAfter: z.int().nullable(),
  pending: z.int().describe('events and notifications that are neither taken nor given up'),
  pendingSince: instant.nullable(),
  nextAttemptAt: instant
    .nullable()
    .describe('of a delivery that was tried; null = none waits for another attempt'),
  deliveredAt: instant.nullable(),
  createdAt: instant,
});

export type EndpointDocument = DocumentOf<typeof endpoint>;

/** All endpoints. */
export const endpointList = z.object({ endpoints: z.array(endpoint) });

/** All endpoints for a person or program with this role, by name. */
export async function endpointDocuments(db: Queryable, role: UserRole | undefined) {
  const endpoints = await store.listEndpoints(db);
  return endpoints.map((stored): EndpointDocument => ({ ...stored, url: maskedUrl(stored, role) }));
}

/** An address may be a secret: whoever is no admin sees its origin. Of a chat room it is one; else an admin sees it without its query. */
export function maskedUrl({ url, format }: Pick<WebhookEndpoint, 'url' | 'format'>, role?: UserRole): string {
  if (format === 'email') return url;
  const { origin, pathname, search } = new URL(url);
  if (format !== 'json' || role !== 'admin') return `${origin}/…`;
  return search === '' ? origin + pathname : `${origin}${pathname}?…`;
}

/** Removes an endpoint with its secrets and its deliveries. @throws {SyncError} `webhooks.absent`. */
export async function deleteEndpoint(session: Session, name: string): Promise<void> {
  await session.atomically(async (tx) => {
    const { id } = await requireEndpoint(tx, name);
    await tx.query(sql`delete from webhook_endpoints where id = ${id}`);
    await tx.query(sql`delete from webhook_secrets where endpoint_id = ${id}`);
    await tx.query(sql`delete from webhook_deliveries where endpoint_id = ${id}`);
  });
}

/** Gives an endpoint a new secret; the present one signs beside it for a day. @throws {SyncError} `webhooks.absent`. */
export async function rotateSecret(session: Session, name: string, now: Date) {
  const secret = newSecret();
  return session.atomically(async (tx) => {
    const { id, url } = await requireEndpoint(tx, name);
    await store.saveSecret(tx, id, secret, now);
    return { name, url, secret };
  });
}
