import { sql } from 'drizzle-orm';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import {
  changeEndpoint,
  columnsOf,
  findEndpoint,
  insertEndpoint,
  NOT_IN_SETTINGS,
  readEndpoints,
  readSecrets,
  saveSecret,
} from '../../mirror/webhooks/endpoint-store.ts';
import type { EndpointWish, WebhookEndpoint } from '../../mirror/webhooks/endpoint-store.ts';
import { HEALTHY } from './endpoint-activity.ts';
import { newPublicId, newSecret } from './endpoints.ts';

/** An endpoint of the settings. */
export interface SetEndpoint extends Omit<EndpointWish, 'source'> {
  /** The secrets to sign with; empty = one of our own, which `rotate` shows. */
  readonly secrets: readonly string[];
}

/**
 * Brings the endpoints of the settings into the table. One that the settings no longer name is disabled and keeps its place in
 * the events; it goes on from there if they name it again.
 */
export async function syncEndpoints(
  session: Session,
  wanted: readonly SetEndpoint[],
  now: Date,
): Promise<void> {
  await session.atomically(async (tx) => {
    await putEndpoints(tx, wanted, now);
    const names = new Set(wanted.map(({ name }) => name));
    for (const endpoint of await readEndpoints(tx, sql`order by id`))
      if (!names.has(endpoint.name)) await disableUnnamed(tx, endpoint, now);
  });
}

/** Brings these endpoints of the settings into the table, and leaves the others alone. */
export async function putEndpoints(
  tx: Transaction,
  wanted: readonly SetEndpoint[],
  now: Date,
): Promise<void> {
  for (const { secrets, ...rest } of wanted) {
    const wish: EndpointWish = { ...rest, source: 'settings' };
    const endpoint = await findEndpoint(tx, wish.name);
    const id = endpoint?.id ?? (await insertEndpoint(tx, wish, { publicId: newPublicId(), now }));
    if (endpoint !== null) await update(tx, { endpoint, wish, now });
    if (id !== null && secrets.length === 0) await giveSecret(tx, id, now);
  }
}

async function disableUnnamed(
  tx: Transaction,
  { name, source, state }: WebhookEndpoint,
  now: Date,
): Promise<void> {
  if (source !== 'settings' || state === 'disabled') return;
  await changeEndpoint(tx, name, { patch: { state: 'disabled', disabledReason: NOT_IN_SETTINGS }, now });
}

interface Updating {
  readonly endpoint: WebhookEndpoint;
  readonly wish: EndpointWish;
  readonly now: Date;
}

async function update(tx: Transaction, { endpoint, wish, now }: Updating): Promise<void> {
  const isSame = JSON.stringify(columnsOf(endpoint)) === JSON.stringify(columnsOf(wish));
  const isBack = endpoint.disabledReason === NOT_IN_SETTINGS || endpoint.url !== wish.url;
  if (isSame && !isBack) return;
  await changeEndpoint(tx, wish.name, { patch: { ...columnsOf(wish), ...(isBack && HEALTHY) }, now });
}

async function giveSecret(tx: Transaction, endpointId: number, now: Date): Promise<void> {
  if ((await readSecrets(tx, endpointId, now)).length > 0) return;
  await saveSecret(tx, { endpointId, secret: newSecret(), now, overlapUntil: now });
}
