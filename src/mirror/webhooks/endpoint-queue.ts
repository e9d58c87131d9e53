import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { assign, pick, select, claimRow, raiseRow } from '../../db/rows/rows.ts';
import { WEBHOOK_ENDPOINTS } from '../tables/webhook-tables.ts';
import type { WorkClaim } from '../../db/rows/rows.ts';
import { readEndpoint } from './endpoint-store.ts';
import type { EndpointPatch, WebhookEndpoint } from './endpoint-store.ts';

/** Active endpoints with something to plan or to send, which no process works on. */
export async function dueEndpoints(db: Queryable, now: Date, limit: number): Promise<WorkRef[]> {
  const at = instantText(now);
  const due = sql`
    where state = 'active' and owner is null and (not_before is null or not_before <= ${at})
      and (replay_after is not null
        or (format = 'json' and cursor < (select coalesce(max(seq), 0) from changes))
        or exists (select 1 from webhook_deliveries d
          where d.endpoint_id = webhook_endpoints.id and d.state = 'ready' and d.next_attempt_at <= ${at}))
    order by id limit ${limit}`;
  return select(db, pick(WEBHOOK_ENDPOINTS, 'id', 'epoch'), due);
}

const ACTIVE = { name: WEBHOOK_ENDPOINTS.name, isDue: sql`state = 'active'` };

/** Claims an endpoint by compare-and-set and raises its epoch; null if it is no longer free with this epoch. */
export const claimEndpoint = (tx: Transaction, claim: WorkClaim): Promise<WebhookEndpoint | null> =>
  readEndpoint(tx, claimRow(ACTIVE, claim));

/** Raises the epoch of an endpoint that is still free with this one; null if it is not. */
export const raiseEndpoint = (tx: Transaction, ref: WorkRef): Promise<WorkRef | null> =>
  raiseRow(tx, ACTIVE, ref);

/** The endpoint as its owner left it; null if another process has claimed it, or it was removed. */
export async function readOwned(tx: Transaction, { id, epoch }: WorkRef): Promise<WebhookEndpoint | null> {
  return readEndpoint(tx, sql`select * from webhook_endpoints where id = ${id} and epoch = ${epoch}`);
}

/** Changes an endpoint of this process, in a transaction that has read it by `readOwned`. */
export async function writeOwned(
  tx: Transaction,
  { id, epoch }: WorkRef,
  { patch, now }: { readonly patch: EndpointPatch; readonly now: Date },
): Promise<void> {
  const set = assign(WEBHOOK_ENDPOINTS, { ...patch, updatedAt: instantText(now) });
  await tx.write(sql`update webhook_endpoints set ${set} where id = ${id} and epoch = ${epoch}`);
}

/** An endpoint that a process works on, or was working on when it ended. */
interface OwnedEndpoint extends WorkRef {
  readonly owner: string;
}

/** Frees endpoints of owners that are gone. */
export async function freeEndpoints(
  tx: Transaction,
  isFree: (endpoint: OwnedEndpoint) => boolean,
): Promise<void> {
  const owned = await select(
    tx,
    pick(WEBHOOK_ENDPOINTS, 'id', 'epoch', 'owner'),
    sql`where owner is not null order by id`,
  );
  for (const { id, epoch, owner } of owned)
    if (owner !== null && isFree({ id, epoch, owner }))
      await tx.query(sql`update webhook_endpoints set owner = null, epoch = epoch + 1 where id = ${id}`);
}
