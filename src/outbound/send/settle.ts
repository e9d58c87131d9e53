import type { Kind } from '../../catalog/kind.ts';
import { judgeSearch } from '../../diff/match.ts';
import type { SearchResult } from '../../diff/match.ts';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import { parseObject } from '../../lib/json/json.ts';
import { countCompleteSweeps, readStanding } from '../../mirror/kinds/kind-standing.ts';
import { readAttempts, saveLink } from '../../mirror/outbox/attempts-and-links.ts';
import { changeEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { hasQuarantinedSince, rowsFirstSeenAfter } from '../../mirror/records/record-store.ts';
import { requestPull } from '../../mirror/runs/run-requests.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { release, finishAs } from '../attempt/conclude.ts';
import type { Grade } from '../attempt/grade.ts';
import { payloadOf } from '../attempt/journal.ts';
import type { Journalled } from '../attempt/journal.ts';
import type { OutboundParts, OutboundRules } from '../parts.ts';
import { journalCreate, watermarkOf, markerOf } from './create.ts';
import { decideSettlement } from './decide-settlement.ts';
import type { Settlement, AskedSweeps } from './decide-settlement.ts';

/** A create with an unknown outcome, and the time. */
interface Unsettled {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly now: Date;
}

/** Searches the mirror's new records for a create; returns it journalled if it must be sent again. */
export async function settle(
  tx: Transaction,
  parts: OutboundParts,
  unsettled: Unsettled,
): Promise<Journalled | null> {
  const { kind, entry, now } = unsettled;
  const { rules } = parts;
  const standing = await readStanding(tx, kind.name);
  const notes = notesOf(entry);
  const isAskedFor = wasAskedFor(entry);
  const givenUp = instantOf(await givenUpAt(tx, entry));
  const restEnds = new Date(givenUp.getTime() + rules.settleSeconds * 1000);
  const decision = decideSettlement({
    ...{ look: await searchFor(tx, rules, unsettled), repeats: kind.repeats === true, now, rules },
    givenUpAt: givenUp,
    sweepsSince: await countCompleteSweeps(tx, kind.name, restEnds),
    isMarked: markerOf(kind, entry, rules.markerFields) !== null,
    knownAt: asInstant(standing.certifiedAt),
    sweptAt: asInstant(standing.lastSweepAt),
    isDoubtful:
      notes.hasUnreadable !== true && (await hasQuarantinedSince(tx, kind.name, watermarkOf(entry).at)),
    isAskedFor,
    asked: notes.asked ?? null,
  });
  const { completeSweeps } = standing;
  const next = nextSearch(notes, { sweeps: completeSweeps, now });
  if (next !== null && decision.is !== 'adopt') {
    await release(tx, entry, { nextAttemptAt: next, now });
    return null;
  }
  if (decision.is !== 'resend') {
    await carryOut(tx, { ...unsettled, sweeps: completeSweeps }, decision);
    return null;
  }
  // If the service only delays it, the person's decision still holds at the next attempt.
  const result = JSON.stringify({ ...notes, isAskedFor });
  await changeEntry(tx, { ...entry, patch: { result }, now });
  return journalCreate(tx, parts, { kind, entry });
}

const asInstant = (text: string | null): Date | null => (text === null ? null : instantOf(text));

/**
 * When the next search is, where only new records have woken the entry before: no sweep has ended since the last search. They
 * may show the record, and prove nothing about what they do not show. Null where all may be decided.
 */
function nextSearch(
  { looked }: Notes,
  { sweeps, now }: { readonly sweeps: number; readonly now: Date },
): string | null {
  const isBefore = looked !== undefined && now < instantOf(looked.until) && sweeps === looked.sweeps;
  return isBefore ? looked.until : null;
}

const wasAskedFor = (entry: Entry): boolean =>
  entry.verdict === 'retry' || notesOf(entry).isAskedFor === true;

/** Grades of attempts that have certainly changed nothing; even a rejected attempt may have been carried out. */
const NOTHING_DONE: ReadonlySet<string | null> = new Set<Grade['is']>(['unsent', 'busy', 'refused']);

/** When the last send that may have done something was given up. */
async function givenUpAt(tx: Transaction, { id, createdAt }: Entry): Promise<string> {
  const sends = (await readAttempts(tx, id)).filter(({ grade }) => !NOTHING_DONE.has(grade));
  const ends = sends.map(({ closedAt, openedAt }) => closedAt ?? openedAt);
  return ends.toSorted().at(-1) ?? createdAt;
}

/** Judges every record that is new since the send, except those that a person has seen and decided against. */
async function searchFor(
  tx: Transaction,
  rules: OutboundRules,
  { kind, entry }: Unsettled,
): Promise<SearchResult> {
  const dismissed = wasAskedFor(entry) ? (notesOf(entry).ids ?? []) : [];
  const newcomers = await rowsFirstSeenAfter(tx, kind.name, watermarkOf(entry));
  const candidates = newcomers
    .filter(({ id }) => !dismissed.includes(id))
    .map(({ id, raw }) => ({ id, record: parseObject(raw) }));
  const marker = markerOf(kind, entry, rules.markerFields);
  return judgeSearch({ kind, payload: payloadOf(entry), marker, candidates });
}

async function carryOut(
  tx: Transaction,
  { kind, entry, now, sweeps }: Unsettled & { readonly sweeps: number },
  decision: Exclude<Settlement, { readonly is: 'resend' }>,
): Promise<void> {
  if (decision.is === 'wait') {
    const { asked } = decision;
    const until = instantText(decision.until);
    if (asked !== null) await requestPull(tx, { kinds: [kind.name], request: LOOKING, now });
    const verdict = wasAskedFor(entry) ? 'retry' : 'looking';
    const result = JSON.stringify({ ...notesOf(entry), ...(asked && { asked }), looked: { sweeps, until } });
    return release(tx, entry, { state: 'unsettled', verdict, result, nextAttemptAt: until, now });
  }
  if (decision.is === 'park') {
    const { verdict } = decision;
    // Records that a person has decided against stay excluded.
    const seen = wasAskedFor(entry) ? notesOf(entry) : {};
    const hasUnreadable = decision.hasUnreadable ?? seen.hasUnreadable;
    const ids = [...new Set([...(seen.ids ?? []), ...decision.ids])];
    const result = { ids, ...(hasUnreadable && { hasUnreadable }) };
    return finishAs(tx, entry, { state: 'parked', verdict, result, now });
  }
  return adopt(tx, { kind, entry, now }, decision.id);
}

/** The found record becomes the create's own, unless another entry has taken it. */
async function adopt(tx: Transaction, { kind, entry, now }: Unsettled, recordId: string): Promise<void> {
  if (!(await saveLink(tx, { kind: kind.name, recordId, outboxId: entry.id }, now)))
    return finishAs(tx, entry, { state: 'parked', verdict: 'twins', result: { ids: [recordId] }, now });
  const end = { state: 'done', verdict: 'adopted', recordId, result: { recordId } } as const;
  return finishAs(tx, entry, { ...end, now, watchUntil: now });
}

const LOOKING = 'outbox: what became of a create';

/** The notes that an unsettled create keeps for its next search. */
interface Notes {
  /** Records that were shown to a person, who decided against them. */
  readonly ids?: readonly string[];
  /** A person has seen the quarantined records and decided against them too. */
  readonly hasUnreadable?: boolean;
  /** A person requested another try, and the service has postponed it since. */
  readonly isAskedFor?: boolean;
  readonly asked?: AskedSweeps;
  /** The complete sweeps at the last search, and when the next search is. */
  readonly looked?: { readonly sweeps: number; readonly until: string };
}

export const notesOf = ({ result }: Pick<Entry, 'result'>): Notes =>
  result === null ? {} : ((JSON.parse(result) as Notes | null) ?? {});
