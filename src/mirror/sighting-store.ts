import { sql } from 'drizzle-orm';
import { instantText } from '../lib/clock.ts';
import type { Transaction } from './session.ts';

/** What one list response showed, and when: a fact, whatever becomes of the sweep that it came from. */
export interface Sighting {
  readonly kind: string;
  readonly runId: number;
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Every id on the page, those of quarantined rows too. */
  readonly ids: readonly string[];
  /** Rows on the page, those without an id too. */
  readonly rows: number;
  /** At most so many rows the list had, where this response proves its end. */
  readonly endRows: number | null;
  readonly total: number | null;
  readonly now: Date;
}

const SWEEPS_KEPT = 3;

export async function saveSighting(tx: Transaction, sighting: Sighting): Promise<void> {
  const { kind, answered, sent, runId, page, ids, rows, endRows, total, now } = sighting;
  await tx.append({
    table: 'sightings',
    columns: ['kind', 'answered', 'sent', 'run_id', 'page', 'ids', 'rows', 'end_rows', 'total', 'seen_at'],
    rows: [[kind, answered, sent, runId, page, `[${ids.join(',')}]`, rows, endRows, total, instantText(now)]],
  });
}

/** Forgets the sightings of all but the last three sweeps of a kind. */
export async function pruneSightings(tx: Transaction, kind: string): Promise<void> {
  await tx.query(sql`
    delete from sightings where kind = ${kind} and run_id not in (
      select run_id from sightings where kind = ${kind} group by run_id order by run_id desc limit ${SWEEPS_KEPT})`);
}
