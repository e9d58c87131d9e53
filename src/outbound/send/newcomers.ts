import type { Kind } from '../../catalog/kind.ts';
import { hasKeyOf, isEqualTo, keyFields } from '../../diff/match.ts';
import { isRuledOut, longTexts, type SentText } from '../../diff/rule-out.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import { asMirrored } from '../../store/kinds/field-store.ts';
import { openCreates } from '../../store/outbox/outbox-queue.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import {
  contentsSince,
  isSharedByMore,
  newcomersSince,
  rewrittenSince,
  type Rewritten,
} from '../../store/records/record-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import { payloadOf } from '../attempt/journal.ts';
import { watermarkOf } from './create.ts';

/** A record that appeared after a create was sent, returned, or took the id of another record. */
interface Newcomer {
  readonly id: string;
  readonly record: JsonObject;
  /** Its id was that of a live record before: who changed the record so far cannot be told. */
  readonly wasLive: boolean;
}

/** The newcomers since an entry's last send, without those that another entry explains. */
export async function readNewcomers(
  tx: Transaction,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
): Promise<readonly Newcomer[]> {
  const watermark = watermarkOf(entry);
  const wanted = payloadOf(entry);
  const found = new Map<string, Newcomer>();
  for (const { id, raw } of await newcomersSince(tx, kind.name, watermark))
    found.set(id, { id, record: parseObject(raw), wasLive: false });
  for (const one of await rewrittenSince(tx, kind.name, watermark))
    if (found.get(one.id)?.wasLive !== false && isReused(kind, wanted, one))
      found.set(one.id, { id: one.id, record: parseObject(one.raw), wasLive: true });
  const others = (await openCreates(tx, kind.name)).filter((create) => create.id !== entry.id).map(payloadOf);
  return [...found.values()].filter((newcomer) => {
    const isExplained = others.some((payload) => isEqualTo(kind, payload, newcomer.record));
    return !isExplained || isEqualTo(kind, wanted, newcomer.record);
  });
}

/** A live record that now has another natural key may be another record under the same id. */
function isReused(kind: Kind, payload: JsonObject, rewritten: Rewritten): boolean {
  const old = parseObject(rewritten.before);
  const present = parseObject(rewritten.raw);
  const fields = keyFields(kind, payload, old);
  const keyOf = Object.fromEntries(fields.map((field) => [field.name, field.remote ?? null]));
  return !hasKeyOf(kind, keyOf, present) && Object.values(keyOf).some((value) => value !== null);
}

/** The newcomers that are equal to what was sent. */
export function equalOnes(kind: Kind, entry: Entry, newcomers: readonly Newcomer[]): readonly string[] {
  return newcomers
    .filter((newcomer) => !newcomer.wasLive && isEqualTo(kind, payloadOf(entry), newcomer.record))
    .map((newcomer) => newcomer.id);
}

/** The newcomers that may be what the service made of an entry, as they are or as they were before somebody changed them. */
export async function possibleOnes(
  tx: Transaction,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
  newcomers: readonly Newcomer[],
): Promise<readonly string[]> {
  if (newcomers.length === 0) return [];
  const payload = payloadOf(entry);
  const telling = await tellingTexts(tx, kind, payload);
  const isPossible = (record: JsonObject): boolean => !isRuledOut({ kind, payload, telling, record });
  const wasPossible = async (id: string): Promise<boolean> =>
    (await contentsSince(tx, kind.name, id, watermarkOf(entry))).map(parseObject).some(isPossible);
  const left: string[] = [];
  for (const { id, record } of newcomers) if (isPossible(record) || (await wasPossible(id))) left.push(id);
  return left;
}

/**
 * The only newcomer that may be an entry's; null where its id was another record's, where it may be another open entry's, or where
 * it has not the natural key that was sent: another person's record may contain the same words.
 */
export async function soleOne(
  tx: Transaction,
  kind: Kind,
  entry: Entry,
  newcomers: readonly Newcomer[],
): Promise<string | null> {
  const [one, ...more] = newcomers;
  if (one === undefined || more.length > 0 || one.wasLive) return null;
  if (kind.naturalKey !== 'all sent fields' && !hasKeyOf(kind, payloadOf(entry), one.record)) return null;
  for (const other of await openCreates(tx, kind.name))
    if (other.id !== entry.id && (await possibleOnes(tx, { kind, entry: other }, [one])).length > 0)
      return null;
  return one.id;
}

/** A word that many records share tells none of them from the others: the service may well spell it in a form of its own. */
const MOST_SHARING = 3;

async function tellingTexts(tx: Transaction, kind: Kind, payload: JsonObject): Promise<readonly SentText[]> {
  const mirrored = await asMirrored(tx, kind);
  const telling: SentText[] = [];
  for (const sent of longTexts(mirrored, payload)) {
    const column = mirrored.fields.find(({ name, type }) => name === sent.field && type === 'text');
    if (column === undefined) continue;
    const sharing = { column: column.name, text: sent.text, most: MOST_SHARING };
    if (!(await isSharedByMore(tx, kind.name, sharing))) telling.push(sent);
  }
  return telling;
}
