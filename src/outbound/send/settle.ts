import type { Kind } from '../../catalog/kind.ts';
import type { MessageKey } from '../../lib/text/translator.ts';
import { parseObject } from '../../lib/json/json.ts';
import { formatInstant, parseInstant } from '../../lib/time/clock.ts';
import {
  readListHolder,
  readStanding,
  lastReading,
  readingsSince,
  type Reading,
} from '../../store/kinds/kind-standing.ts';
import { isPrompt } from '../../store/outbox/prompt-kinds.ts';
import { readAttempts, saveLink, unlistedLinks } from '../../store/outbox/attempts-and-links.ts';
import { changeEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import type { Search } from '../../store/outbox/settlement.ts';
import { readAbsences } from '../../store/records/deletion-store.ts';
import { readUnreadable } from '../../store/records/issue-store.ts';
import { hasQuarantinedSince } from '../../store/records/record-store.ts';
import { isPullOpen, requestPull } from '../../store/runs/run-requests.ts';
import type { Transaction } from '../../db/session/session.ts';
import { releaseEntry, finishEntry, parkBeside } from './end-entry.ts';
import { canHaveArrived } from './grade.ts';
import { journalRequest, watermarkOf } from './journal.ts';
import { readOwnRows } from '../mirror-rows.ts';
import { findLastBreak, isCurrent } from '../last-break.ts';
import type { OutboundParts } from '../parts.ts';
import { updateElapsed } from '../stopwatch.ts';
import { awaitReading, type Unsettled } from './awaited-reading.ts';
import { hasAlteredKeys, noteAlteredKeys, readAltered } from './create.ts';
import {
  decideSettlement,
  isFinal,
  isListKnown,
  latestReading,
  searchTimes,
  uncertifiedMs,
  waitMs,
  type Settlement,
  type SettlementFacts,
} from './decide-settlement.ts';
import {
  equalMatches,
  hasHiddenCreate,
  isMadeUnderOtherKey,
  namedMatch,
  plausibleMatches,
  readPossibleMatches,
  soleMatch,
  type PossibleMatch,
} from './possible-matches.ts';

/** Searches the mirror for the record of a create; returns the journalled entry if it must be sent again. */
export async function settle(tx: Transaction, parts: OutboundParts, unsettled: Unsettled) {
  const { kind, entry: stored, now } = unsettled;
  const elapsed = updateElapsed(parts.waits.stopwatch, stored);
  const entry = { ...stored, ...elapsed };
  await changeEntry(tx, { ...entry, patch: elapsed, now });
  const { knownFrom, certifiedAt } = await readStanding(tx, kind.name);
  if (knownFrom > 0 && watermarkOf(entry).tick <= knownFrom) {
    // It was sent to a service that the mirror no longer holds the data of: no list will show what became of it.
    await finishEntry(tx, entry, { state: 'parked', verdict: 'other_source', now });
    return null;
  }
  const matches = await readUndecidedMatches(tx, kind, entry);
  const read = await readSettlementFacts(tx, parts, { kind, entry, now }, matches);
  const canResend = !read.isAskedFor && decideSettlement(read).is === 'resend';
  const isHidden = canResend && (await hasHiddenCreate(tx, kind, certifiedAt));
  const facts = isHidden ? { ...read, doubt: HIDDEN } : read;
  if (facts.isCreationConfirmed && isListKnown(facts) && isMadeUnderOtherKey(kind, entry, matches))
    await noteAlteredKeys(tx, kind.name, now);
  const decision = decideSettlement(facts);
  if (decision.is !== 'resend') {
    await applySettlement(tx, { kind, entry, now }, facts, decision);
    return null;
  }
  // If the service only delays it, the person's decision still holds at the next attempt.
  const settlement = { ...entry.settlement, isAskedFor: facts.isAskedFor };
  await changeEntry(tx, { ...entry, patch: { settlement }, now });
  return journalRequest(tx, parts, { kind, entry });
}

async function readUndecidedMatches(tx: Transaction, kind: Kind, entry: Entry) {
  const dismissed = isRetryRequested(entry) ? (entry.settlement.ids ?? []) : []; // A person has decided against them.
  return (await readPossibleMatches(tx, kind, entry)).filter((match) => !dismissed.includes(match.id));
}

async function readSettlementFacts(
  tx: Transaction,
  parts: OutboundParts,
  unsettled: Unsettled,
  matches: readonly PossibleMatch[],
): Promise<SettlementFacts> {
  const { kind, entry } = unsettled;
  const { settlement: notes } = entry;
  const isAskedFor = isRetryRequested(entry);
  const { certifiedAt } = await readStanding(tx, kind.name);
  const attempts = await readAttempts(tx, entry.id);
  const stoodMs = await readStoodMs(tx, unsettled, attempts.at(-1)?.closedAt ?? null);
  const searched = await readSearch(tx, parts, unsettled, stoodMs);
  const facts = {
    readings: searched.readings,
    ...(await readTrust(tx, unsettled, latestReading(searched.readings), { isAskedFor, certifiedAt })),
    elapsedMs: entry.elapsedMs,
    search: searched.search,
    isReading: searched.search !== null && (await isPullOpen(tx, kind.name, searched.search.run)),
    isCreationConfirmed: attempts.some((attempt) => attempt.grade === 'made'),
    repeats: kind.repeats === true,
    isDoubtful:
      notes.hasUnreadable !== true && (await hasQuarantinedSince(tx, kind.name, watermarkOf(entry).at)),
    isAskedFor,
    isWaitEnded: isWaitEnded(entry),
    stoodMs,
    lostSends: attempts.filter(canHaveArrived).length,
    hasAlteredKeys: await hasAlteredKeys(tx, kind.name),
    rules: parts.rules,
  };
  const found = isFinal(facts) ? matches : [];
  const isHurried = notes.hurried !== undefined && !facts.isCreationConfirmed;
  // Who has not waited rules none out.
  const plausibleIds = isHurried ? found.map(({ id }) => id) : await plausibleMatches(tx, kind, entry, found);
  const possible = matches.filter((match) => plausibleIds.includes(match.id));
  const soleId = facts.isCreationConfirmed ? await soleMatch(tx, kind, entry, possible) : null;
  const namedId = namedMatch(kind, entry, matches);
  return { ...facts, namedId, equalIds: equalMatches(kind, entry, matches), plausibleIds, soleId };
}

/** How long the clock of a wait has stood that is short, since the service itself answered that it failed; null = it is not. */
async function readStoodMs(tx: Transaction, { kind, entry, now }: Unsettled, answeredAt: string | null) {
  if (!entry.settlement.hasFailed || answeredAt === null || !(await isPrompt(tx, kind.name))) return null;
  const before = await lastReading(tx, kind.name, answeredAt);
  const readings = await readingsSince(tx, kind.name, before?.runId ?? 0);
  return uncertifiedMs(readings, parseInstant(answeredAt).getTime(), now.getTime());
}

/**
 * The latest search for an entry with its sweeps; none if it began before the last break, or if its latest sweep is too old to end the
 * entry by what it lacks.
 */
async function readSearch(
  tx: Transaction,
  parts: OutboundParts,
  { kind, entry, now }: Unsettled,
  stoodMs: number | null,
): Promise<{ readonly search: Search | null; readonly readings: readonly Reading[] }> {
  const { search } = entry.settlement;
  const lastBreak = await findLastBreak(tx, parts);
  const none = { search: null, readings: [] };
  if (search === undefined || search.run < lastBreak.firstRun) return none;
  const readings = await readingsSince(tx, kind.name, search.run);
  const latest = latestReading(readings);
  const mayBeOld = !isFinal({ ...entry, isWaitEnded: isWaitEnded(entry), stoodMs, rules: parts.rules });
  return latest === undefined || mayBeOld || isCurrent(latest, lastBreak, now) ? { search, readings } : none;
}

const HIDDEN: MessageKey = 'no list shows records that bms-sync has created';
const OTHERS: MessageKey =
  'the list is read under another token than before the send, which may not be shown the record';
const EMPTY: MessageKey = 'a service in maintenance may also answer an empty list';
const PARTIAL: MessageKey = 'its list may show only a part of its records';

/** How far the lists can be trusted. What a person who asks for another try has seen no longer stands against it. */
async function readTrust(
  tx: Transaction,
  unsettled: Unsettled,
  latest: Reading | undefined,
  { isAskedFor, certifiedAt }: { readonly isAskedFor: boolean; readonly certifiedAt: string | null },
): Promise<Pick<SettlementFacts, 'acceptsQuarantine' | 'unreadable' | 'unlistedIds' | 'doubt'>> {
  const kind = unsettled.kind.name;
  const { barring = [] } = unsettled.entry.settlement;
  const isNew = (name: string): boolean => !isAskedFor || !barring.includes(name);
  const all = await readUnreadable(tx, kind);
  const acceptsQuarantine = all.length > 0 && !all.some(isNew) && (await readAbsences(tx, kind)).size === 0;
  const unlistedIds = certifiedAt === null ? [] : (await unlistedLinks(tx, kind, certifiedAt)).filter(isNew);
  const { holder } = watermarkOf(unsettled.entry);
  const isOfOther = holder !== null && !isAskedFor && holder !== (await readListHolder(tx, kind));
  const doubt = unlistedIds.length > 0 ? HIDDEN : isOfOther ? OTHERS : reasonToDoubt(latest, isAskedFor);
  return { acceptsQuarantine, unreadable: acceptsQuarantine ? [] : all, unlistedIds, doubt };
}

function reasonToDoubt(latest: Reading | undefined, isAskedFor: boolean): MessageKey | null {
  if (latest?.rows === 0 && !isAskedFor) return EMPTY;
  return latest?.state === 'certified' && latest.reason !== null ? PARTIAL : null;
}

const isRetryRequested = (entry: Entry): boolean =>
  entry.verdict === 'retry' || entry.settlement.isAskedFor === true;

const isWaitEnded = (entry: Entry): boolean =>
  isRetryRequested(entry) || entry.settlement.hurried !== undefined;

async function applySettlement(
  tx: Transaction,
  unsettled: Unsettled,
  facts: SettlementFacts,
  decision: Exclude<Settlement, { readonly is: 'resend' }>,
): Promise<void> {
  const { entry, now } = unsettled;
  if (decision.is === 'wait') return scheduleSearch(tx, unsettled, facts, decision);
  if (decision.is === 'adopt') return adoptMatch(tx, unsettled, decision.id);
  // Records that a person has decided against stay excluded.
  const { named } = entry.settlement;
  const seen = isRetryRequested(entry) ? entry.settlement : {};
  const hasUnreadable = decision.hasUnreadable ?? seen.hasUnreadable;
  const ids = [...new Set([...(seen.ids ?? []), ...decision.ids])];
  const { verdict } = decision;
  const bars = verdict === 'no_certificate' ? await certificateBars(tx, unsettled, facts) : {};
  const settlement = { ids, named, hasUnreadable, ...bars };
  return finishEntry(tx, entry, { state: 'parked', verdict, result: { ids }, settlement, now });
}

async function adoptMatch(tx: Transaction, { kind, entry, now }: Unsettled, id: string): Promise<void> {
  if (!(await saveLink(tx, { kind: kind.name, recordId: id, outboxId: entry.id }, now)))
    return parkBeside(tx, { entry, now }, 'twins', [id]);
  const row = (await readOwnRows(tx, kind.name, [id])).get(id);
  const altered = await readAltered(tx, { kind, entry, shown: parseObject(row?.raw ?? '{}') }, now);
  const result = { recordId: id, ...(altered.length > 0 && { altered }) };
  return finishEntry(tx, entry, { state: 'done', verdict: 'adopted', recordId: id, result, now });
}

/** What stands against a certificate. Records that cannot become rows are then candidates, too, which a person has seen. */
async function certificateBars(tx: Transaction, unsettled: Unsettled, facts: SettlementFacts) {
  const { unlistedIds, unreadable } = facts;
  const { barring: before = [] } = unsettled.entry.settlement;
  const barring = [...new Set([...before, ...unlistedIds, ...unreadable])];
  const awaits = await awaitReading(tx, unsettled, facts);
  return {
    awaits,
    ...(barring.length > 0 && { barring }),
    ...(unreadable.length > 0 && { hasUnreadable: true }),
  };
}

async function scheduleSearch(
  tx: Transaction,
  unsettled: Unsettled,
  facts: SettlementFacts,
  wait: Extract<Settlement, { readonly is: 'wait' }>,
): Promise<void> {
  const { kind, entry, now } = unsettled;
  const pull = { kinds: [kind.name], request: 'outbox: what became of a create', now };
  const run = wait.needsSweep ? await requestPull(tx, pull) : null;
  const { due } = searchTimes(facts);
  const begun = run === null || due === null ? null : { due, run };
  const search = facts.search?.due === due ? facts.search : (begun ?? facts.search);
  const isWaiting = search !== null && !isListKnown(facts);
  const awaits = isWaiting ? await awaitReading(tx, unsettled, facts) : undefined;
  const afterMs = (untilMs: number): string =>
    formatInstant(new Date(now.getTime() + Math.max(0, untilMs - entry.elapsedMs)));
  const resendMs = searchTimes({ ...facts, elapsedMs: waitMs(facts) - 1 }).next; // At a look: only these conclude.
  const resend = !facts.isCreationConfirmed && {
    resendAt: afterMs(resendMs),
    isSoon: facts.stoodMs !== null,
  };
  return releaseEntry(tx, entry, {
    state: 'unsettled',
    verdict: isRetryRequested(entry) ? 'retry' : 'looking',
    settlement: { ...entry.settlement, ...(search && { search }), awaits, ...resend },
    nextAttemptAt: afterMs(wait.untilMs),
    now,
  });
}
