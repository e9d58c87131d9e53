import type { Kind } from '../../catalog/kind.ts';
import type { Text } from '../../lib/text/speech.ts';
import { instantText } from '../../lib/time/clock.ts';
import { lastReading, readStanding, readingsSince, type Reading } from '../../store/kinds/kind-standing.ts';
import { outcomeWords } from '../../words/outcome-words.ts';
import { readAttempts, saveLink, unlistedLinks } from '../../store/outbox/attempts-and-links.ts';
import { changeEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import { readAbsences } from '../../store/records/deletion-store.ts';
import { readUnreadable } from '../../store/records/issue-store.ts';
import { hasQuarantinedSince } from '../../store/records/record-store.ts';
import { requestPull } from '../../store/runs/run-requests.ts';
import type { Transaction } from '../../db/session/session.ts';
import { release, finishAs } from '../attempt/conclude.ts';
import { mayHaveArrived } from '../attempt/grade.ts';
import type { Journalled } from '../attempt/journal.ts';
import { isYoung, type OutboundParts } from '../parts.ts';
import { elapsedBy } from '../stopwatch.ts';
import { altersKeys, journalCreate, watermarkOf } from './create.ts';
import {
  askedOnceMore,
  decideSettlement,
  isFinal,
  isKnownSince,
  latestSince,
  type AskedSweeps,
  type Settlement,
  type SettlementFacts,
} from './decide-settlement.ts';
import { equalOnes, possibleOnes, readNewcomers, soleOne } from './newcomers.ts';

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
  const { certifiedAt, lastSweepAt } = await readStanding(tx, kind.name);
  const attempts = await readAttempts(tx, entry.id);
  const facts = {
    ...(await readTrust(tx, kind.name, notes, { isAskedFor, certifiedAt })),
    elapsedMs: entry.elapsedMs,
    asked,
    isMade: attempts.some(({ grade }) => grade === 'made'),
    isFresh: isYoung(certifiedAt, now) || isYoung(lastSweepAt, now),
    repeats: kind.repeats === true,
    isDoubtful:
      notes.hasUnreadable !== true && (await hasQuarantinedSince(tx, kind.name, watermarkOf(entry).at)),
    isAskedFor,
    lostSends: attempts.filter(mayHaveArrived).length,
    altersKeys: await altersKeys(tx, kind.name),
    rules,
  };
  const left = isFinal(facts) ? await possibleOnes(tx, { kind, entry }, newcomers) : [];
  const possible = newcomers.filter(({ id }) => left.includes(id));
  const sole = facts.isMade ? await soleOne(tx, { kind, entry }, possible) : null;
  return { ...facts, equal: equalOnes(kind, entry, newcomers), left, sole };
}

const HIDDEN: Text = 'no list shows records that creates of ours have made';
const EMPTY: Text = 'an empty list is what maintenance answers, too';
const PARTIAL: Text = 'its list shows a part of its records only';

/** How far the lists can be trusted. What a person who asks for another try has seen no longer stands against it. */
async function readTrust(
  tx: Transaction,
  kind: string,
  { asked, barring = [] }: Notes,
  { isAskedFor, certifiedAt }: { readonly isAskedFor: boolean; readonly certifiedAt: string | null },
): Promise<Pick<SettlementFacts, 'readings' | 'unreadable' | 'hidden' | 'doubt'>> {
  const isNew = (name: string): boolean => !isAskedFor || !barring.includes(name);
  const all = await readUnreadable(tx, kind);
  const isSeen = all.length > 0 && !all.some(isNew) && (await readAbsences(tx, kind)).size === 0;
  const readings = (asked ? await readingsSince(tx, kind, asked.first) : []).map((reading) =>
    isSeen && reading.reason === 'quarantined' ? { ...reading, state: 'certified', reason: null } : reading,
  );
  const hidden = certifiedAt === null ? [] : (await unlistedLinks(tx, kind, certifiedAt)).filter(isNew);
  const doubt = hidden.length > 0 ? HIDDEN : doubtOf(latestSince(readings), isAskedFor);
  return { readings, unreadable: isSeen ? [] : all, hidden, doubt };
}

function doubtOf(latest: Reading | undefined, isAskedFor: boolean): Text | null {
  if (latest?.rows === 0 && !isAskedFor) return EMPTY;
  return latest?.state === 'certified' && latest.reason !== null ? PARTIAL : null;
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
  const found = { ids, ...(hasUnreadable && { hasUnreadable }) };
  const isUncertified = decision.verdict === 'no_certificate';
  const result = isUncertified ? { ...found, ...(await barsOf(tx, { kind, entry, now }, facts)) } : found;
  return finishAs(tx, entry, { state: 'parked', verdict: decision.verdict, result, now });
}

/** What stands against a certificate. Records that cannot become rows are then candidates, too, which a person has seen. */
async function barsOf(tx: Transaction, unsettled: Unsettled, facts: SettlementFacts) {
  const { hidden, unreadable } = facts;
  const barring = [...new Set([...(notesOf(unsettled.entry).barring ?? []), ...hidden, ...unreadable])];
  const awaits = { ...(await awaitsReading(tx, unsettled, facts)) };
  return {
    awaits,
    ...(barring.length > 0 && { barring }),
    ...(unreadable.length > 0 && { hasUnreadable: true }),
  };
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
  const isWaiting = asked !== null && !isKnownSince(facts, asked.first);
  const awaits = isWaiting ? await awaitsReading(tx, { kind, entry, now }, facts) : undefined;
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
  /** The records that stand against it. */
  readonly records?: readonly string[];
}

export async function awaitsReading(
  tx: Transaction,
  { kind, entry, now }: Unsettled,
  facts?: Pick<SettlementFacts, 'doubt' | 'hidden' | 'unreadable'>,
): Promise<AwaitedReading> {
  const since = notesOf(entry).awaits?.since ?? instantText(now);
  const last = await lastReading(tx, kind.name);
  if (last === null) return { since, why: 'it was never read' };
  const { why } = outcomeWords(last);
  const records = facts ? [...facts.hidden, ...facts.unreadable] : [];
  const named = records.length > 0 && { records };
  return { since, why: why ?? facts?.doubt ?? 'the next reading has not ended yet', ...named };
}

/** What searches note in an entry's result. */
interface Notes {
  /** Records that may be the entry's. */
  readonly ids?: readonly string[];
  /** A person has seen the quarantined records and decided against them too. */
  readonly hasUnreadable?: boolean;
  /** Records that stood against a conclusion from the lists, by name. */
  readonly barring?: readonly string[];
  /** A person requested another try, and the service has postponed it since. */
  readonly isAskedFor?: boolean;
  readonly asked?: AskedSweeps;
  readonly awaits?: AwaitedReading;
}

export const notesOf = ({ result }: Pick<Entry, 'result'>): Notes =>
  result === null ? {} : ((JSON.parse(result) as Notes | null) ?? {});
