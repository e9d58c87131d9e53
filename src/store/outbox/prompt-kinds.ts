import { sql } from 'drizzle-orm';
import * as z from 'zod';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { answeredCreates } from './attempts-and-links.ts';
import { readStanding } from '../kinds/kind-standing.ts';
import { deleteMeta, readMeta, writeMeta } from '../kinds/meta.ts';

/** Creates that complete sweeps have shown since one came late, and the last days on which they were answered. */
const shownCreates = z.object({ source: z.string(), creates: z.number(), days: z.array(z.string()) });

const LEAST_CREATES = 20;
const LEAST_DAYS = 5;
const DAY = 'YYYY-MM-DD'.length;

/**
 * Notes whether a complete sweep has shown our creates that were answered since the one before it began, and before it began itself.
 * A lost create that was found later proves nothing about how soon lists show records.
 */
export async function noteCreatesShown(
  tx: Transaction,
  kind: string,
  sweep: { readonly startedAt: Date; readonly isShown: (id: string) => boolean },
): Promise<void> {
  const lastBegan = sql`(
    select k.started_at from run_kinds as k join runs as r on r.id = k.run_id and r.command = 'pull'
    where k.kind = ${kind} and k.state in ('certified', 'complete') order by k.run_id desc limit 1)`;
  const creates = await answeredCreates(tx, kind, lastBegan, formatInstant(sweep.startedAt));
  if (creates.length === 0) return;
  if (!creates.every(({ recordId }) => sweep.isShown(recordId))) return deleteMeta(tx, `prompt.${kind}`);
  const before = await readShownCreates(tx, kind);
  const days = new Set([...before.days, ...creates.map((create) => create.linkedAt.slice(0, DAY))]);
  const shown = { creates: before.creates + creates.length, days: [...days].sort().slice(-LEAST_DAYS) };
  await writeMeta(tx, `prompt.${kind}`, JSON.stringify({ ...before, ...shown }));
}

/** Whether the next complete sweep has shown each of our last creates, and answers show their natural keys as they were sent. */
export async function isPrompt(db: Queryable, kind: string): Promise<boolean> {
  if ((await readMeta(db, `outbox.alters.${kind}`)) !== null) return false;
  const { creates, days } = await readShownCreates(db, kind);
  return creates >= LEAST_CREATES && days.length >= LEAST_DAYS;
}

/** What a mirror before a restore, or another source, has shown does not count. */
async function readShownCreates(db: Queryable, kind: string): Promise<z.infer<typeof shownCreates>> {
  const source = `${await readMeta(db, 'log')} ${(await readStanding(db, kind)).knownFrom}`;
  const text = await readMeta(db, `prompt.${kind}`);
  const stored = text === null ? null : shownCreates.parse(JSON.parse(text));
  return stored?.source === source ? stored : { source, creates: 0, days: [] };
}
