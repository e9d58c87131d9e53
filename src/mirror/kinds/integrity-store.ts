import { instantOf, instantText } from '../../lib/time/clock.ts';
import { readMeta, writeMeta } from './meta.ts';
import type { Queryable, Transaction } from '../session/session.ts';

/** The result of the latest check of the database file. */
interface IntegrityCheck {
  readonly checkedAt: string;
  /** Empty if the file is sound. */
  readonly findings: readonly string[];
}

/** A failed check: why the database file is not to be trusted. */
export interface Damage {
  readonly reason: string;
  readonly since: string;
}

/** When the file was checked last; null = never. */
export async function lastCheck(db: Queryable): Promise<Date | null> {
  const check = await readCheck(db);
  return check === null ? null : instantOf(check.checkedAt);
}

export async function saveCheck(tx: Transaction, findings: readonly string[], now: Date): Promise<void> {
  const check: IntegrityCheck = { checkedAt: instantText(now), findings };
  await writeMeta(tx, 'integrity', JSON.stringify(check));
}

/** The faults that the latest check found in the file; null if it found none or never ran. */
export async function readDamage(db: Queryable): Promise<Damage | null> {
  const check = await readCheck(db);
  if (check === null || check.findings.length === 0) return null;
  return { reason: damageOf(check.findings), since: check.checkedAt };
}

/** A check's faults in one sentence. */
export function damageOf(findings: readonly string[]): string {
  const [first = ''] = findings;
  const more = findings.length === 1 ? '' : ` (and ${findings.length - 1} more)`;
  return `the database file is damaged: ${first}${more}`;
}

async function readCheck(db: Queryable): Promise<IntegrityCheck | null> {
  const text = await readMeta(db, 'integrity');
  return text === null ? null : (JSON.parse(text) as IntegrityCheck);
}
