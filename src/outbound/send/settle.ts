import type { Text } from '../../lib/text/speech.ts';
import { instantText } from '../../lib/time/clock.ts';
import { readStanding, readingsSince, type Reading } from '../../store/kinds/kind-standing.ts';
import { readAttempts, saveLink, unlistedLinks } from '../../store/outbox/attempts-and-links.ts';
import { changeEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import type { SettlementNotes } from '../../store/outbox/settlement.ts';
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
import { awaitReading, type Unsettled } from './awaited-reading.ts';
import { altersKeys, journalCreate, watermarkOf } from './create.ts';
import {
  askedOnceMore,
  decideSettlement,
  isFinal,
  isKnownSince,
  latestSince,
  type Settlement,
  type SettlementFacts,
} from './decide-settlement.ts';
import { equalOnes, possibleOnes, readNewcomers, soleOne } from './newcomers.ts';

/** Searches the mirror's newcomers for a create; returns it journalled if it must be sent again. */
export async function settle(
  tx: Transaction,
  parts: OutboundParts,
  unsettled: Unsettled,
): Promise<Journalled | null> {
  const { kind, entry: stored, now } = unsettled;
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
  const settlement = { ...entry.settlement, isAskedFor: facts.isAskedFor };
  const { elapsedMs, elapsedAt } = entry;
  await changeEntry(tx, { ...entry, patch: { settlement, elapsedMs, elapsedAt }, now });
  return journalCreate(tx, parts, kind, entry);
}

async function readFacts(
  tx: Transaction,
  parts: OutboundParts,
  unsettled: Unsettled,
): Promise<SettlementFacts> {
  const { kind, entry, now } = unsettled;
  const { settlement: notes } = entry;
  const isAskedFor = wasAskedFor(entry);
  const asked = notes.asked ?? null;
  const dismissed = isAskedFor ? (notes.ids ?? []) : []; // A person has seen them and decided against them.
  const newcomers = (await readNewcomers(tx, { kind, entry })).filter(
    (newcomer) => !dismissed.includes(newcomer.id),
  );
  const { certifiedAt, lastSweepAt } = await readStanding(tx, kind.name);
  const attempts = await readAttempts(tx, entry.id);
  const facts = {
    ...(await readTrust(tx, kind.name, notes, { isAskedFor, certifiedAt })),
    elapsedMs: entry.elapsedMs,
    asked,
    isMade: attempts.some((attempt) => attempt.grade === 'made'),
    isFresh: isYoung(certifiedAt, now) || isYoung(lastSweepAt, now),
    repeats: kind.repeats === true,
    isDoubtful:
      notes.hasUnreadable !== true && (await hasQuarantinedSince(tx, kind.name, watermarkOf(entry).at)),
    isAskedFor,
    lostSends: attempts.filter(mayHaveArrived).length,
    altersKeys: await altersKeys(tx, kind.name),
    rules: parts.rules,
  };
  const left = isFinal(facts) ? await possibleOnes(tx, { kind, entry }, newcomers) : [];
  const possible = newcomers.filter((newcomer) => left.includes(newcomer.id));
  const sole = facts.isMade ? await soleOne(tx, kind, entry, possible) : null;
  return { ...facts, equal: equalOnes(kind, entry, newcomers), left, sole };
}

const HIDDEN: Text = 'no list shows records that creates of ours have made';
const EMPTY: Text = 'an empty list is what maintenance answers, too';
const PARTIAL: Text = 'its list shows a part of its records only';

/** How far the lists can be trusted. What a person who asks for another try has seen no longer stands against it. */
async function readTrust(
  tx: Transaction,
  kind: string,
  { asked, barring = [] }: SettlementNotes,
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
  entry.verdict === 'retry' || entry.settlement.isAskedFor === true;

async function carryOut(
  tx: Transaction,
  unsettled: Unsettled,
  facts: SettlementFacts,
  decision: Exclude<Settlement, { readonly is: 'resend' }>,
): Promise<void> {
  const { kind, entry, now } = unsettled;
  if (decision.is === 'wait') return lookLater(tx, { kind, entry, now }, facts, decision);
  const { elapsedMs, elapsedAt } = entry;
  await changeEntry(tx, { ...entry, patch: { elapsedMs, elapsedAt }, now });
  if (decision.is === 'adopt') {
    const { id } = decision;
    const found = { ids: [id] };
    if (!(await saveLink(tx, { kind: kind.name, recordId: id, outboxId: entry.id }, now)))
      return finishAs(tx, entry, {
        state: 'parked',
        verdict: 'twins',
        result: found,
        settlement: found,
        now,
      });
    const end = { state: 'done', verdict: 'adopted', recordId: id, result: { recordId: id } } as const;
    return finishAs(tx, entry, { ...end, now, watchUntil: now });
  }
  // Records that a person has decided against stay excluded.
  const seen = wasAskedFor(entry) ? entry.settlement : {};
  const hasUnreadable = decision.hasUnreadable ?? seen.hasUnreadable;
  const ids = [...new Set([...(seen.ids ?? []), ...decision.ids])];
  const bars = decision.verdict === 'no_certificate' ? await barsOf(tx, { kind, entry, now }, facts) : {};
  const settlement = { ids, ...(hasUnreadable && { hasUnreadable }), ...bars };
  return finishAs(tx, entry, {
    state: 'parked',
    verdict: decision.verdict,
    result: { ids },
    settlement,
    now,
  });
}

/** What stands against a certificate. Records that cannot become rows are then candidates, too, which a person has seen. */
async function barsOf(tx: Transaction, unsettled: Unsettled, facts: SettlementFacts) {
  const { hidden, unreadable } = facts;
  const barring = [...new Set([...(unsettled.entry.settlement.barring ?? []), ...hidden, ...unreadable])];
  const awaits = await awaitReading(tx, unsettled, facts);
  return {
    awaits,
    ...(barring.length > 0 && { barring }),
    ...(unreadable.length > 0 && { hasUnreadable: true }),
  };
}

async function lookLater(
  tx: Transaction,
  unsettled: Unsettled,
  facts: SettlementFacts,
  extract: Extract<Settlement, { readonly is: 'wait' }>,
): Promise<void> {
  const { kind, entry, now } = unsettled;
  const { elapsedMs, elapsedAt } = entry;
  const pull = { kinds: [kind.name], request: 'outbox: what became of a create', now };
  const run = extract.asks ? await requestPull(tx, pull) : null;
  const asked = run === null ? facts.asked : askedOnceMore(facts, run);
  const isWaiting = asked !== null && !isKnownSince(facts, asked.first);
  const awaits = isWaiting ? await awaitReading(tx, { kind, entry, now }, facts) : undefined;
  return release(tx, entry, {
    state: 'unsettled',
    verdict: wasAskedFor(entry) ? 'retry' : 'looking',
    settlement: { ...entry.settlement, ...(asked && { asked }), awaits },
    nextAttemptAt: instantText(new Date(now.getTime() + extract.untilMs - elapsedMs)),
    elapsedMs,
    elapsedAt,
    now,
  });
}
