import type { Kind } from '../../catalog/kind.ts';
import { instantText } from '../../lib/time/clock.ts';
import { lastReading, readStanding, readingsSince } from '../../mirror/kinds/kind-standing.ts';
import { outcomeWords } from '../../mirror/kinds/outcome-words.ts';
import { readAttempts, saveLink } from '../../mirror/outbox/attempts-and-links.ts';
import { changeEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { hasQuarantinedSince } from '../../mirror/records/record-store.ts';
import { requestPull } from '../../mirror/runs/run-requests.ts';
import type { Transaction } from '../../db/session/session.ts';
import { release, finishAs } from '../attempt/conclude.ts';
import { mayHaveArrived } from '../attempt/grade.ts';
import type { Journalled } from '../attempt/journal.ts';
import { isYoung } from '../parts.ts';
import type { OutboundParts } from '../parts.ts';
import { elapsedBy } from '../stopwatch.ts';
import { altersKeys, journalCreate, watermarkOf } from './create.ts';
import { askedOnceMore, decideSettlement, isFinal } from './decide-settlement.ts';
import type { AskedSweeps, Settlement, SettlementFacts } from './decide-settlement.ts';
import { equalOnes, possibleOnes, readNewcomers } from './newcomers.ts';

/** A create with an unknown outcome, and the time. */
interface Unsettled {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly now: Date;
}

/** Searches the mirror's newcomers for a create; returns it journalled if it must be sent again. */
export async function settle(
  tx: Transaction,
  parts: OutboundParts,
  { kind, entry: stored, now }: Unsettled,
): Promise<Journalled | null> {
  const entry = { ...stored, ...elapsedBy(parts.watch, stored) };
  const { knownFrom } = await readStanding(tx, kind.name);
  if (knownFrom > 0 && watermarkOf(entry).tick <= knownFrom) {
    // It was sent to a service that the mirror no longer holds the data of: no list will show what became of it.
    await finishAs(tx, entry, { state: 'parked', verdict: 'other_source', now });
    return null;
  }
  const facts = await readFacts(tx, parts, { kind, entry, now });
  const decision = decideSettlement(facts);
  if (decision.is !== 'resend') {
    await carryOut(tx, { kind, entry, now }, facts, decision);
    return null;
  }
  // If the service only delays it, the person's decision still holds at the next attempt.
  const result = JSON.stringify({ ...notesOf(entry), isAskedFor: facts.isAskedFor });
  const { elapsedMs, elapsedAt } = entry;
  await changeEntry(tx, { ...entry, patch: { result, elapsedMs, elapsedAt }, now });
  return journalCreate(tx, parts, kind, entry);
}

async function readFacts(
  tx: Transaction,
  { rules }: OutboundParts,
  { kind, entry, now }: Unsettled,
): Promise<SettlementFacts> {
  const notes = notesOf(entry);
  const isAskedFor = wasAskedFor(entry);
  const asked = notes.asked ?? null;
  const dismissed = isAskedFor ? (notes.ids ?? []) : []; // A person has seen them and decided against them.
  const newcomers = (await readNewcomers(tx, { kind, entry })).filter(({ id }) => !dismissed.includes(id));
  const standing = await readStanding(tx, kind.name);
  const attempts = await readAttempts(tx, entry.id);
  const facts = {
    elapsedMs: entry.elapsedMs,
    readings: asked === null ? [] : await readingsSince(tx, kind.name, asked.first),
    asked,
    isFresh: isYoung(standing.certifiedAt, now) || isYoung(standing.lastSweepAt, now),
    repeats: kind.repeats === true,
    isDoubtful:
      notes.hasUnreadable !== true && (await hasQuarantinedSince(tx, kind.name, watermarkOf(entry).at)),
    isAskedFor,
    lostSends: attempts.filter(mayHaveArrived).length,
    altersKeys: await altersKeys(tx, kind.name),
    rules,
  };
  const left = isFinal(facts) ? await possibleOnes(tx, { kind, entry }, newcomers) : [];
  return { ...facts, equal: equalOnes(kind, entry, newcomers), left };
}

const wasAskedFor = (entry: Entry): boolean =>
  entry.verdict === 'retry' || notesOf(entry).isAskedFor === true;

async function carryOut(
  tx: Transaction,
  { kind, entry, now }: Unsettled,
  facts: SettlementFacts,
  decision: Exclude<Settlement, { readonly is: 'resend' }>,
): Promise<void> {
  if (decision.is === 'wait') return lookLater(tx, { kind, entry, now }, facts, decision);
  const { elapsedMs, elapsedAt } = entry;
  await changeEntry(tx, { ...entry, patch: { elapsedMs, elapsedAt }, now });
  if (decision.is === 'adopt') {
    const { id } = decision;
    if (!(await saveLink(tx, { kind: kind.name, recordId: id, outboxId: entry.id }, now)))
      return finishAs(tx, entry, { state: 'parked', verdict: 'twins', result: { ids: [id] }, now });
    const end = { state: 'done', verdict: 'adopted', recordId: id, result: { recordId: id } } as const;
    return finishAs(tx, entry, { ...end, now, watchUntil: now });
  }
  // Records that a person has decided against stay excluded.
  const seen = wasAskedFor(entry) ? notesOf(entry) : {};
  const hasUnreadable = decision.hasUnreadable ?? seen.hasUnreadable;
  const ids = [...new Set([...(seen.ids ?? []), ...decision.ids])];
  const result = { ids, ...(hasUnreadable && { hasUnreadable }) };
  return finishAs(tx, entry, { state: 'parked', verdict: decision.verdict, result, now });
}

async function lookLater(
  tx: Transaction,
  { kind, entry, now }: Unsettled,
  facts: SettlementFacts,
  { untilMs, asks }: Extract<Settlement, { readonly is: 'wait' }>,
): Promise<void> {
  const { elapsedMs, elapsedAt } = entry;
  const pull = { kinds: [kind.name], request: 'outbox: what became of a create', now };
  const run = asks ? await requestPull(tx, pull) : null;
  const asked = run === null ? facts.asked : askedOnceMore(facts, run);
  const notes = { ...notesOf(entry), ...(asked && { asked }) };
  const isWaiting = asked !== null && !facts.readings.some(({ certifiedAt }) => certifiedAt !== null);
  const awaits = isWaiting ? await awaitsReading(tx, { kind, entry, now }) : undefined;
  return release(tx, entry, {
    state: 'unsettled',
    verdict: wasAskedFor(entry) ? 'retry' : 'looking',
    result: JSON.stringify({ ...notes, awaits }),
    nextAttemptAt: instantText(new Date(now.getTime() + untilMs - elapsedMs)),
    elapsedMs,
    elapsedAt,
    now,
  });
}

/** Since when an entry waits for its kind to be read, and why the latest reading was not enough. */
interface AwaitedReading {
  readonly since: string;
  /** A text of ours, in English. */
  readonly why: string;
  /** The first run that was asked for. */
  readonly run?: number;
}

export async function awaitsReading(
  tx: Transaction,
  { kind, entry, now }: Unsettled,
): Promise<AwaitedReading> {
  const since = notesOf(entry).awaits?.since ?? instantText(now);
  const last = await lastReading(tx, kind.name);
  if (last === null) return { since, why: 'it was never read' };
  const { why } = outcomeWords(last);
  return { since, why: why ?? 'the next reading has not ended yet' };
}

/** What searches note in an entry's result. */
interface Notes {
  /** Records that may be the entry's. */
  readonly ids?: readonly string[];
  /** A person has seen the quarantined records and decided against them too. */
  readonly hasUnreadable?: boolean;
  /** A person requested another try, and the service has postponed it since. */
  readonly isAskedFor?: boolean;
  readonly asked?: AskedSweeps;
  readonly awaits?: AwaitedReading;
}

export const notesOf = ({ result }: Pick<Entry, 'result'>): Notes =>
  result === null ? {} : ((JSON.parse(result) as Notes | null) ?? {});
