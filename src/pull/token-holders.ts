import { DAY_MS } from '../lib/time/zone-offset.ts';
import { formatInstant, parseInstant } from '../lib/time/clock.ts';
import type { Queryable, Transaction } from '../db/session/session.ts';
import { readTexts } from '../db/rows/rows.ts';
import { sql } from 'drizzle-orm';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';

/** A user, by a digest, whose token has read a kind's list, the last one to its end. */
interface TokenHolder {
  readonly holder: string;
  /** When it did so first. */
  readonly since: string;
  /** What its present run of readings counts, which another user's pages end: a complete sweep 1, a certified one 2. */
  readonly sweeps: number;
}

const MOST_KEPT = 20;

const parse = (text: string | null): readonly TokenHolder[] =>
  text === null ? [] : (JSON.parse(text) as TokenHolder[]);

/** What a sweep counts that proves what its own list lacks: its certificate is not that of an earlier sweep, under another token. */
export const CERTIFIED_SWEEP = 2;

/** Notes whose token has read a kind's list last, and how much that counts: nothing where it was not to its end. */
export async function saveHolder(
  tx: Transaction,
  kind: string,
  { holder, counts }: { readonly holder: string; readonly counts: number },
  now: Date,
): Promise<void> {
  const known = parse(await readMeta(tx, `holders.${kind}`));
  const last = known.at(-1);
  const sweeps = last?.holder === holder ? last.sweeps : 0;
  if (sweeps === CERTIFIED_SWEEP) return; // As nearly always.
  const since = known.find((one) => one.holder === holder)?.since ?? formatInstant(now);
  const others = known.filter((one) => one.holder !== holder);
  const present = { holder, since, sweeps: Math.min(sweeps + counts, CERTIFIED_SWEEP) };
  await writeMeta(tx, `holders.${kind}`, JSON.stringify([...others, present].slice(-MOST_KEPT)));
}

/** Ends the present run of readings, because pages under another user's token have landed: they may show what the run does not. */
export async function endRunOfOthers(tx: Transaction, kind: string, holders: ReadonlySet<string>, now: Date) {
  const known = parse(await readMeta(tx, `holders.${kind}`));
  const last = known.at(-1);
  if (last === undefined || [...holders].every((holder) => holder === last.holder)) return; // As nearly always.
  const unknown = [...holders].filter((holder) => known.every((one) => one.holder !== holder));
  if (unknown.length === 0 && last.sweeps === 0) return;
  const added = unknown.map((holder): TokenHolder => ({ holder, since: formatInstant(now), sweeps: 0 }));
  // The last one stays last: no other has read the list to its end since.
  const kept = [...added, ...known.slice(0, -1), { ...last, sweeps: 0 }].slice(-MOST_KEPT);
  await writeMeta(tx, `holders.${kind}`, JSON.stringify(kept));
}

/**
 * Whether a list was read with the token of a user who may never have seen what it lacks: others have read it before, and no sweeps
 * since the last of them have proven what it lacks under this one. Where tokens rotate, each is another one of the same user.
 */
export async function isNewHolder(
  db: Queryable,
  kind: string,
  { holders, now }: { readonly holders: ReadonlySet<string>; readonly now: Date },
): Promise<boolean> {
  const known = parse(await readMeta(db, `holders.${kind}`));
  const { holder = '', sweeps = 0 } = known.at(-1) ?? {};
  const isKnown = sweeps >= CERTIFIED_SWEEP && holders.size === 1 && holders.has(holder);
  const hasOthers = known.some((one) => !holders.has(one.holder));
  return hasOthers && !isKnown && !rotates(known, holders, now);
}

const WEEK_MS = 7 * DAY_MS;
const MOST_IN_A_WEEK = 3;

/** Whether so many tokens were new within a week that they rotate. */
function rotates(known: readonly TokenHolder[], holders: ReadonlySet<string>, now: Date): boolean {
  const isRecent = ({ since }: TokenHolder): boolean =>
    now.getTime() - parseInstant(since).getTime() < WEEK_MS;
  const [, ...later] = [...known].sort((a, b) => (a.since < b.since ? -1 : 1)); // Before the first there was none.
  const unknown = [...holders].filter((holder) => known.every((one) => one.holder !== holder));
  return later.filter(isRecent).length + unknown.length >= MOST_IN_A_WEEK;
}

/** Whether a list was read with the tokens of several users, so that it proves nothing about what it lacks. */
export async function isOfSeveral(db: Queryable, kind: string, holders: ReadonlySet<string>, now: Date) {
  return holders.size > 1 && !rotates(parse(await readMeta(db, `holders.${kind}`)), holders, now);
}

/** Whether the tokens that have read some kind rotate. */
export async function doTokensRotate(db: Queryable, now: Date): Promise<boolean> {
  const all = await readTexts(db, sql`select value from mirror_meta where key like 'holders.%'`);
  return all.some((text) => rotates(parse(text), new Set(), now));
}
