import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { DueWork, WorkRef } from '../../lib/work-queue.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { literal, withoutEscapes } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import {
  assignments,
  claimRow,
  insertInto,
  insertRows,
  orNull,
  pickColumns,
  raiseRowEpoch,
  readNumber,
  readRow,
  readTexts,
  select,
  selectOne,
  type WorkClaim,
} from '../../db/rows/rows.ts';
import { WEBHOOK_ENDPOINTS, WEBHOOK_SECRETS } from '../../store/tables/webhook-tables.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import { isDueDelivery, latestPause, urgentDeliveries } from './delivery-queue.ts';

/** An endpoint with the state of its deliveries, as people see it. */
export type EndpointWithHealth = Awaited<ReturnType<typeof listEndpoints>>[number];

/**
 * All endpoints with their health, by name. `pending`: deliveries that are neither taken nor given up, and the events that are still
 * to become some; `nextAttemptAt`: when a delivery is tried again, null if none waits for that.
 */
export async function listEndpoints(db: Queryable) {
  const endpoints = [];
  for (const endpoint of await select(db, WEBHOOK_ENDPOINTS, sql`order by name`)) {
    const { id, cursor, replayAfter } = endpoint;
    const isKept = replayAfter === null ? sql`` : sql` and coalesce(seq, 0) <= ${replayAfter}`;
    // Of one endpoint: counted for all at once, the settled deliveries would be read as well.
    const waiting = sql`
      select count(*) as pending, min(since) as pending_since, min(next_at) as next_attempt_at from (
        select created_at as since, case when attempts > 0 then next_attempt_at end as next_at
        from webhook_deliveries where endpoint_id = ${id} and state in ('ready', 'waiting')${isKept}
        union all
        select observed_at, null from changes where seq > ${replayAfter ?? cursor} and ${isWantedBy(endpoint)}
      ) as waiting`;
    const { nextAttemptAt: next, ...counted } = (await readRow(db, PENDING, waiting)) ?? NONE_WAITS;
    const nextAttemptAt = endpoint.state === 'active' ? next : null;
    endpoints.push({ ...endpoint, health: healthOf(endpoint), ...counted, nextAttemptAt });
  }
  return endpoints;
}

/** A condition of change events: the endpoint is sent them. The filter of fields judges updates only: other changes concern all fields. */
export function isWantedBy({ format, kinds, changes, fields }: WebhookEndpoint): SQL {
  if (format !== 'json') return NOTHING; // People get notifications only.
  const isAmong = (column: string, names: readonly string[] | null): readonly SQL[] => {
    if (names === null) return [];
    return [names.length === 0 ? NOTHING : sql`${sql.raw(column)} in (${sqlList(names)})`];
  };
  const hasField = (name: string): SQL =>
    sql.raw(`json(${withoutEscapes('fields')}) -> ${literal(name)} is not null`);
  const judged = fields === null ? [] : [sql`change <> 'updated'`, ...fields.map(hasField)];
  const ofFields = judged.length === 0 ? [] : [sql`(${sql.join(judged, sql` or `)})`];
  const conditions = [...isAmong('kind', kinds), ...isAmong('change', changes), ...ofFields];
  return conditions.length === 0 ? sql`1 = 1` : sql.join(conditions, sql` and `);
}

const NOTHING = sql`1 = 0`;

const NONE_WAITS = { pending: 0, pendingSince: null, nextAttemptAt: null };

const PENDING = { pending: Number, pendingSince: orNull(String), nextAttemptAt: orNull(String) };

/** `failing`: the last attempts failed, for long enough to be reported. */
const healthOf = ({ state, failingToldAt }: WebhookEndpoint): 'healthy' | 'failing' | 'disabled' =>
  state === 'disabled' ? state : failingToldAt === null ? 'healthy' : 'failing';

/** The reason of an endpoint that a person has disabled. */
export const BY_A_PERSON = 'by_a_person';

/** Whether an endpoint stopped without a decision of a user. */
export const needsPerson = (endpoint: WebhookEndpoint): boolean =>
  healthOf(endpoint) !== 'healthy' && endpoint.disabledReason !== BY_A_PERSON;

/** The endpoints that fail or were disabled (`reason`: a stable code), by name. One that a person disabled is left out. */
export async function failingEndpoints(db: Queryable) {
  const endpoints = (await select(db, WEBHOOK_ENDPOINTS, sql`order by name`)).filter(needsPerson);
  return endpoints.map(({ name, state, disabledReason: reason, failingSince: since }) => {
    return { name, health: state === 'disabled' ? state : ('failing' as const), reason, since };
  });
}

/** Which events an endpoint is sent. */
type EventFilter = Pick<WebhookEndpoint, 'kinds' | 'changes' | 'fields'>;

/** The part of an endpoint that a person decides. */
export interface EndpointInput extends EventFilter, Pick<WebhookEndpoint, 'name' | 'url' | 'format'> {
  /** Of messages to people; null = that of the settings. */
  readonly language?: WebhookEndpoint['language'];
}

/**
 * Stores an endpoint that gets the events from now on, and returns its id; null if the name is taken.
 * @param publicId Random text that no other endpoint has, of this mirror or another.
 */
export async function insertEndpoint(tx: Transaction, input: EndpointInput, publicId: string, now: Date) {
  const cursor = (await readNumber(tx, sql`select max(seq) as seq from changes`)) ?? 0;
  const at = formatInstant(now);
  const row = { language: null, ...input, publicId, cursor, createdAt: at, updatedAt: at };
  const insert = insertInto(WEBHOOK_ENDPOINTS, row);
  return readNumber(tx, sql`${insert} on conflict (name) do nothing returning id`);
}

/** Changes an endpoint; if an epoch is given, only as its owner, which has read it by `readOwned`. */
export async function changeEndpoint(
  tx: Transaction,
  { id, epoch }: { id: number; epoch?: number },
  patch: Partial<Omit<WebhookEndpoint, keyof EventFilter | 'id' | 'publicId' | 'createdAt' | 'updatedAt'>>,
  now: Date,
): Promise<void> {
  const set = assignments(WEBHOOK_ENDPOINTS, { ...patch, updatedAt: formatInstant(now) });
  const isOwn = epoch === undefined ? sql`` : sql` and epoch = ${epoch}`;
  await tx.write(sql`update webhook_endpoints set ${set} where id = ${id}${isOwn}`);
}

/** The secrets to sign with now, the newest first: the present one, and its predecessor during the overlap. */
export async function readSecrets(db: Queryable, endpointId: number, now: Date): Promise<string[]> {
  const valid = sql`
    select secret from webhook_secrets
    where endpoint_id = ${endpointId} and (expires_at is null or expires_at > ${formatInstant(now)})
    order by id desc`;
  return readTexts(db, valid);
}

/** How long the secret before a rotation still signs. */
const OVERLAP_MS = 86_400_000;

/** Stores the present secret of an endpoint. Its predecessor signs too until the overlap ends, earlier ones are removed. */
export async function saveSecret(tx: Transaction, endpointId: number, secret: string, now: Date) {
  const expiresAt = formatInstant(new Date(now.getTime() + OVERLAP_MS));
  await tx.query(sql`
    delete from webhook_secrets where endpoint_id = ${endpointId} and expires_at is not null`);
  await tx.query(sql`update webhook_secrets set expires_at = ${expiresAt} where endpoint_id = ${endpointId}`);
  await insertRows(tx, WEBHOOK_SECRETS, [{ endpointId, secret, createdAt: formatInstant(now) }]);
}

/** Active endpoints with something to plan or to send, which no process works on. */
export async function dueEndpoints(db: Queryable, now: Date, limit: number): Promise<DueWork[]> {
  const at = formatInstant(now);
  const due = sql`
    where state = 'active' and owner is null
      and (not_before is null or not_before <= ${at} or not_before > ${latestPause(now)}
        or (format = 'email' and exists (${urgentDeliveries(sql`webhook_endpoints.id`, now)})))
      and (replay_after is not null
        or (format = 'json' and cursor < (select coalesce(max(seq), 0) from changes))
        or exists (select 1 from webhook_deliveries d
          where d.endpoint_id = webhook_endpoints.id and ${isDueDelivery(now)}))
    order by id limit ${limit}`;
  const rows = await select(db, pickColumns(WEBHOOK_ENDPOINTS, 'id', 'epoch', 'name'), due);
  return rows.map(({ id, epoch, name }) => ({ id, epoch, task: `deliver ${name}` }));
}

const ACTIVE = { table: WEBHOOK_ENDPOINTS, isDue: sql`state = 'active'` };

/** Claims an endpoint by compare-and-set and raises its epoch; null if it is no longer free with this epoch. */
export const claimEndpoint = (tx: Transaction, claim: WorkClaim): Promise<WebhookEndpoint | null> =>
  readRow(tx, WEBHOOK_ENDPOINTS, claimRow(ACTIVE, claim));

/** Raises the epoch of an endpoint that is still free with this one; null if it is not. */
export const raiseEndpoint = (tx: Transaction, ref: WorkRef): Promise<WorkRef | null> =>
  raiseRowEpoch(tx, ACTIVE, ref);

/** The endpoint as its owner left it; null if another process has claimed it, or it was removed. */
export const readOwnedEndpoint = (tx: Transaction, ref: WorkRef): Promise<WebhookEndpoint | null> =>
  selectOne(tx, WEBHOOK_ENDPOINTS, sql`where id = ${ref.id} and epoch = ${ref.epoch}`);

/** Frees endpoints of owners that are gone. */
export async function releaseEndpoints(
  tx: Transaction,
  isFree: (owned: WorkRef & { owner: string }) => boolean,
): Promise<void> {
  for (const { id, epoch, owner } of await select(
    tx,
    WEBHOOK_ENDPOINTS,
    sql`where owner is not null order by id`,
  ))
    if (owner !== null && isFree({ id, epoch, owner }))
      await tx.query(sql`update webhook_endpoints set owner = null, epoch = epoch + 1 where id = ${id}`);
}
