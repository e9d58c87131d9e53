import { TECHNICAL } from '../../lib/text/translator.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { readMeta, readMetaJson, writeMeta } from '../kinds/meta.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';

/** The reason why nothing is sent although writes are on. */
export interface Frozen {
  readonly reason: string;
  /** Null while only the next process that sends would find it. */
  readonly since: string | null;
  /** The sends that the database does not know of, one line each, as far as they were noted. */
  readonly unknown?: readonly string[];
}

/** What a person does who finds sends frozen. */
export const RESUME = 'Compare the sends since the back-up with the service, then: bms-sync outbox resume';

/** Reads the cause of a freeze; null = sends are allowed. */
export const readFrozen = async (db: Queryable): Promise<Frozen | null> =>
  (await readMetaJson(db, 'outbox.frozen')) as Frozen | null;

/** Stops all sends until a person resumes them; the first reason stays. */
export async function freeze(tx: Transaction, reason: string, now: Date, unknown: readonly string[] = []) {
  if ((await readMeta(tx, 'outbox.frozen')) !== null) return;
  const frozen: Frozen = { reason, since: formatInstant(now), ...(unknown.length > 0 && { unknown }) };
  await writeMeta(tx, 'outbox.frozen', JSON.stringify(frozen));
}

/** An entry of this database may have such a number by now: who abandons it by the number would abandon another one. */
const FORMER_NUMBERS = 'These are numbers of the database before it went back';

/** Why nothing is sent and since when, with the sends that the database does not know of; ends without a full stop. */
export function pauseText({ reason, since, unknown = [] }: Frozen): string {
  const start = since === null ? '' : ` since ${TECHNICAL.date(since)}`;
  const sends =
    unknown.length === 0 ? '' : `. Unknown to this database: ${unknown.join('; ')}. ${FORMER_NUMBERS}`;
  return `sends are paused${start}: ${reason}${sends}`;
}
