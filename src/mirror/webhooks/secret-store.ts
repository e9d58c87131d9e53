import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { append, readTexts } from '../tables/rows.ts';
import { WEBHOOK_SECRETS } from '../tables/webhook-tables.ts';

/** The secrets to sign with now, the newest first: the present one, and its predecessor during the overlap. */
export async function readSecrets(db: Queryable, endpointId: number, now: Date): Promise<string[]> {
  return readTexts(
    db,
    sql`
    select secret from webhook_secrets
    where endpoint_id = ${endpointId} and (expires_at is null or expires_at > ${instantText(now)})
    order by id desc`,
  );
}

interface NewSecret {
  readonly endpointId: number;
  readonly secret: string;
  readonly now: Date;
  /** Until when its predecessor signs too. */
  readonly overlapUntil: Date;
}

/** Stores the present secret of an endpoint. Its predecessor stays until the overlap ends, earlier ones are removed. */
export async function saveSecret(tx: Transaction, secret: NewSecret): Promise<void> {
  const { endpointId, now, overlapUntil } = secret;
  await tx.query(sql`
    delete from webhook_secrets where endpoint_id = ${endpointId} and expires_at is not null`);
  await tx.query(sql`
    update webhook_secrets set expires_at = ${instantText(overlapUntil)} where endpoint_id = ${endpointId}`);
  await append(tx, WEBHOOK_SECRETS, [{ endpointId, secret: secret.secret, createdAt: instantText(now) }]);
}

/** Removes secrets whose overlap has ended. */
export async function forgetExpiredSecrets(tx: Transaction, now: Date): Promise<void> {
  await tx.query(sql`delete from webhook_secrets where expires_at <= ${instantText(now)}`);
}
