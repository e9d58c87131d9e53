import type { Kind } from '../../catalog/kind.ts';
import { hasAllSentValues, hasNaturalKeyOf, hasOtherKey, keyFields } from '../../diff/match.ts';
import { canBeMadeOf, isRuledOut, longTexts, showsSentValue, type SentText } from '../../diff/rule-out.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { openCreates } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import {
  contentsSince,
  isSharedByMoreThan,
  possibleMatchesSince,
  rewrittenSince,
  type Rewritten,
} from '../../store/records/record-store.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { payloadOf, watermarkOf } from './journal.ts';

/** A record that appeared after a create was sent, returned, or took the id of another record. */
export interface PossibleMatch {
  readonly id: string;
  readonly record: JsonObject;
  /** Its id belonged to a live record before, so earlier changes have an unknown author. */
  readonly wasLive: boolean;
}

/** The possible matches since an entry's last send, without records that another entry made. */
export async function readPossibleMatches(db: Queryable, kind: Kind, entry: Entry) {
  const watermark = watermarkOf(entry);
  const wanted = payloadOf(entry);
  const found = new Map<string, PossibleMatch>();
  for (const { id, raw } of await possibleMatchesSince(db, kind.name, watermark))
    found.set(id, { id, record: parseObject(raw), wasLive: false });
  for (const match of await rewrittenSince(db, kind.name, watermark))
    if (found.get(match.id)?.wasLive !== false && isReused(kind, wanted, match))
      found.set(match.id, { id: match.id, record: parseObject(match.raw), wasLive: true });
  const otherPayloads = (await openCreates(db, kind.name))
    .filter((create) => create.id !== entry.id)
    .map(payloadOf);
  return [...found.values()].filter(({ record }) => {
    const named = namedValues(kind, wanted, record);
    return otherPayloads.every((payload) => namedValues(kind, payload, record) <= named);
  });
}

/** How many values of a payload a record shows, if it shows all of them; else 0. It is the record of the create that names most of it. */
const namedValues = (kind: Kind, payload: JsonObject, record: JsonObject): number =>
  hasAllSentValues(kind, payload, record) ? Object.keys(payload).length : 0;

/** A live record that now has another natural key may be another record under the same id. */
function isReused(kind: Kind, payload: JsonObject, rewritten: Rewritten): boolean {
  const old = parseObject(rewritten.before);
  const present = parseObject(rewritten.raw);
  const fields = keyFields(kind, payload, old);
  const keyOf = Object.fromEntries(fields.map((field) => [field.name, field.remote ?? null]));
  return !hasNaturalKeyOf(kind, keyOf, present) && Object.values(keyOf).some((value) => value !== null);
}

/** The possible matches that equal what was sent. */
export function equalMatches(kind: Kind, entry: Entry, matches: readonly PossibleMatch[]): readonly string[] {
  return matches
    .filter((match) => !match.wasLive && hasAllSentValues(kind, payloadOf(entry), match.record))
    .map((match) => match.id);
}

/** Whether a create was made by an instant, as an answer proves, and no record of the mirror equals it: what that lacks may be there. */
export async function hasHiddenCreate(tx: Transaction, kind: Kind, at: string | null): Promise<boolean> {
  for (const entry of await openCreates(tx, kind.name)) {
    const closed = (await readAttempts(tx, entry.id)).filter(({ closedAt }) => (closedAt ?? '') < (at ?? ''));
    const isMade = closed.some((attempt) => attempt.grade === 'made');
    const equal = isMade ? equalMatches(kind, entry, await readPossibleMatches(tx, kind, entry)) : [];
    if (isMade && equal.length === 0) return true;
  }
  return false;
}

/** The record whose id an answer gave without more, once the list shows it with a value that was sent. */
export function namedMatch(kind: Kind, entry: Entry, matches: readonly PossibleMatch[]): string | null {
  const named = matches.find((match) => match.id === entry.settlement.named && !match.wasLive);
  return named && showsSentValue(kind, payloadOf(entry), named.record) ? named.id : null;
}

/** Whether the only newcomer since a create that was made, and not named, shows another natural key: the service alters keys. */
export const isMadeUnderOtherKey = (kind: Kind, entry: Entry, matches: readonly PossibleMatch[]): boolean =>
  matches.length === 1 &&
  matches.every(({ wasLive, record }) => !wasLive && hasOtherKey(kind, payloadOf(entry), record));

/** The possible matches whose present or earlier values the service may have made of an entry. */
export async function plausibleMatches(
  tx: Transaction,
  kind: Kind,
  entry: Entry,
  matches: readonly PossibleMatch[],
): Promise<readonly string[]> {
  if (matches.length === 0) return [];
  const payload = payloadOf(entry);
  const distinctive = await distinctiveTexts(tx, kind, payload);
  const isPossible = (record: JsonObject): boolean => !isRuledOut({ kind, payload, distinctive, record });
  const wasPossible = async (id: string): Promise<boolean> =>
    (await contentsSince(tx, kind.name, id, watermarkOf(entry))).map(parseObject).some(isPossible);
  const plausible: string[] = [];
  for (const { id, record } of matches) if (isPossible(record) || (await wasPossible(id))) plausible.push(id);
  return plausible;
}

/**
 * The only possible match of an entry; null where its id was another record's, where it may be another open entry's, or where its
 * natural key differs from the sent one, or what it has shown is nothing that the service makes of the sent values: another
 * record may contain the same words, and another user's the same key, while ours waits for an approval.
 */
export async function soleMatch(
  tx: Transaction,
  kind: Kind,
  entry: Entry,
  matches: readonly PossibleMatch[],
): Promise<string | null> {
  const [match, ...more] = matches;
  if (match === undefined || more.length > 0 || match.wasLive) return null;
  if (kind.naturalKey !== 'all sent fields' && !hasNaturalKeyOf(kind, payloadOf(entry), match.record))
    return null;
  const since = await contentsSince(tx, kind.name, match.id, watermarkOf(entry));
  if (![match.record, ...since.map(parseObject)].some((one) => canBeMadeOf(kind, payloadOf(entry), one)))
    return null; // Others may have edited it since it appeared.
  for (const other of await openCreates(tx, kind.name))
    if (other.id !== entry.id && (await plausibleMatches(tx, kind, other, [match])).length > 0) return null;
  return match.id;
}

/** A word that many records share identifies none of them, and the service may spell it differently. */
const MAX_SHARING = 3;

async function distinctiveTexts(tx: Transaction, kind: Kind, payload: JsonObject) {
  const mirrored = await readMirroredKind(tx, kind);
  const distinctive: SentText[] = [];
  for (const sent of longTexts(mirrored, payload)) {
    const column = mirrored.fields.find(({ name, type }) => name === sent.field && type === 'text');
    if (column === undefined) continue;
    const sharing = { column: column.name, text: sent.text, most: MAX_SHARING };
    if (!(await isSharedByMoreThan(tx, kind.name, sharing))) distinctive.push(sent);
  }
  return distinctive;
}
