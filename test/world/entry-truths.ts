import { kindOf, markerOf } from './bodies.ts';
import { recordsOf, type Found } from './finding.ts';
import { isAtRest, type EntryRecord, type Recording } from './history.ts';
import type { Entry } from '../../src/store/outbox/outbox-store.ts';
import { MOST_KEPT_MS, MOST_LAG_MS } from './mirror-truths.ts';
import type { Content, RecordAction, Records, Row } from './records.ts';
import type { Send } from './service.ts';
import { plainText } from './spelled.ts';
import { storedFields } from './stored.ts';

const bodyOf = ({ body }: Send): Content => JSON.parse(body) as Content;

/** Creates that made more records than there are entries that asked for them. */
export function doubled(recording: Recording): Found {
  const { entries, service, forgotten } = recording;
  const made = new Map<string, string[]>();
  for (const send of service.sends) {
    if (send.operation !== 'create' || send.committed === null) continue;
    const marker = markerOf({ name: send.kind }, bodyOf(send));
    made.set(marker, [...(made.get(marker) ?? []), send.committed.id]);
  }
  return [...made].flatMap(([marker, ids]) => {
    const wanted = [...entries.map(({ intent }) => intent), ...forgotten];
    const asked = wanted.filter((intent) => !intent.isAgain && isCreateOf(intent, marker)).length;
    return ids.length > asked
      ? [
          {
            invariant: 'doubled' as const,
            detail: `${marker}: ${ids.join(', ')}`,
            wasAnswered: wasAnswered(recording, marker),
          },
        ]
      : [];
  });
}

function wasAnswered(recording: Recording, marker: string): boolean {
  const [first] = committedSends(recording, marker);
  return first?.outcome === 'answered' && recording.personality.named !== 'as drawn';
}

const isCreateOf = ({ operation, kind, body }: EntryRecord['intent'], marker: string): boolean =>
  operation === 'create' && markerOf({ name: kind }, body) === marker;

/** Entries that are done while nothing in the service is what they asked for. */
export function lost(recording: Recording): Found {
  return recording.entries
    .filter(({ entry }) => entry.state === 'done')
    .flatMap((one) => {
      const why = one.intent.operation === 'create' ? lostCreate(recording, one) : lostUpdate(recording, one);
      return why === null ? [] : [{ invariant: 'lost' as const, detail: `entry ${one.entry.id}: ${why}` }];
    });
}

/** Creates that are said to be rejected while the service has made their record, and no other entry asked for an equal one. */
export function denied(recording: Recording): Found {
  return recording.entries
    .filter(({ entry, intent }) => entry.state === 'rejected' && intent.operation === 'create')
    .filter(({ intent }) => {
      const marker = markerOf({ name: intent.kind }, intent.body);
      const others = recording.entries.filter(
        (one) => isCreateOf(one.intent, marker) && one.entry.state !== 'rejected',
      );
      return committedSends(recording, marker).length > others.length;
    })
    .map(({ entry }) => ({ invariant: 'denied', detail: `entry ${entry.id}: ${entry.verdict ?? ''}` }));
}

function committedSends({ service }: Recording, marker: string): readonly Send[] {
  return service.sends.filter(
    (send) =>
      send.operation === 'create' &&
      send.committed !== null &&
      markerOf({ name: send.kind }, bodyOf(send)) === marker,
  );
}

function lostCreate(recording: Recording, { entry, intent }: EntryRecord): string | null {
  const marker = markerOf({ name: intent.kind }, intent.body);
  const own = committedSends(recording, marker);
  if (own.some((send) => send.committed?.id === entry.recordId)) return null;
  if (entry.recordId === null)
    return own.length > 0 ? null : `${entry.verdict ?? ''}, and no record was made`;
  const wanted = storedFields(kindOf(intent.kind), intent.body, recording.personality);
  const { actions } = recordsOf(recording, intent.kind);
  const isEqual = actions.some(
    ({ id, after, actor }) =>
      id === entry.recordId && actor !== 'before' && after !== null && hasContent(after.content, wanted),
  );
  return isEqual ? null : `${entry.verdict ?? ''}: took ${entry.recordId}, which nobody made like that`;
}

const hasContent = (content: Content, wanted: Content): boolean =>
  Object.entries(wanted).every(([name, value]) => content[name] === value);

function lostUpdate(recording: Recording, { entry, intent }: EntryRecord): string | null {
  const { actions } = recordsOf(recording, intent.kind);
  const wanted = storedFields(kindOf(intent.kind), intent.body, recording.personality);
  const missed = Object.entries(wanted).filter(([name, value]) => {
    const own = actions.filter(({ id, after }) => id === intent.recordId && after !== null);
    return own.every(({ after }) => after?.content[name] !== value);
  });
  const isSame = missed.every(
    ([name]) => entry.verdict !== null && /same|unchanged|no_change/.test(entry.verdict) && name !== '',
  );
  return missed.length === 0 || isSame
    ? null
    : `${entry.verdict ?? ''}: ${missed.map(([name, value]) => `${name} never was ${String(value)}`).join()}`;
}

/** Values of others that our update replaced although they were there when we last read the record. */
export function overwritten(recording: Recording): Found {
  return recording.entries
    .filter(({ intent }) => intent.operation === 'update')
    .flatMap(({ entry, intent }) => {
      if (entry.base === null) return []; // Without a base, what its author saw is unknown.
      const base = { ...blanksIn(recording, entry), ...(JSON.parse(entry.base) as Content) };
      const { actions } = recordsOf(recording, intent.kind);
      const wanted = storedFields(kindOf(intent.kind), intent.body, recording.personality);
      return actions.flatMap((action, at) => {
        const send = sendOf(recording, action);
        if (send === null || action.id !== intent.recordId || !isSentFor(recording, send, wanted)) return [];
        const readMs = (recording.readBefore.get(send.number) ?? -1) - lagOf(recording);
        return Object.keys(wanted)
          .filter((name) =>
            isOthersValue({ name, readMs, base, action: action.before }, actions.slice(0, at)),
          )
          .filter((name) => plainValue(base[name]) !== plainValue(action.before?.content[name]))
          .map((name) => ({
            invariant: 'overwritten' as const,
            detail: `entry ${entry.id}: ${name} of ${action.id}`,
          }));
      });
    });
}

/** What a base that a list has shown leaves out; a PUT of whole records may leave no record that shows a field. */
function blanksIn({ personality }: Recording, { kind, baseAt }: Entry): Content {
  const { blanks, put } = personality;
  if (!blanks.startsWith('left out') || put === 'whole' || baseAt === null) return {};
  return Object.fromEntries(kindOf(kind).fields.map(({ name }) => [name, '']));
}

export function sendOf({ service }: Recording, { is, actor }: RecordAction): Send | null {
  return is === 'edited' && typeof actor === 'object' ? (service.sends[actor.send] ?? null) : null;
}

/** An update sends nothing that it was not asked for. */
function isSentFor({ personality }: Recording, send: Send, wanted: Content): boolean {
  const sent = Object.entries(
    storedFields(kindOf(send.kind), bodyOf(send), { ...personality, fields: 'all taken' }),
  );
  return sent.every(([name, value]) => wanted[name] === value);
}

/** How much older than its answer what we have read may be. */
const lagOf = ({ personality }: Recording): number =>
  (personality.replica === 'none' ? 0 : MOST_LAG_MS) + (personality.cache === 'none' ? 0 : MOST_KEPT_MS);

/** A value without what lists spell otherwise; a blank is one value, which a record that leaves it out shows as neither '' nor null. */
const plainValue = (value: unknown): string =>
  plainText(JSON.stringify({ value: value === '' ? null : (value ?? null) }), '', ALL_SPELLINGS);
const ALL_SPELLINGS = { volatile: 'none', spelling: 'HTML in lists', blanks: 'shown' } as const;

interface Replaced {
  readonly name: string;
  readonly readMs: number;
  readonly base: Content;
  readonly action: Row | null;
}

/** Whether another person's value was there when we read the record, and the update's author had not seen it. */
function isOthersValue(
  { name, readMs, base, action: before }: Replaced,
  earlier: Records['actions'],
): boolean {
  if (before === null || base[name] === undefined) return false;
  const last = earlier.findLast(
    (one) => one.id === before.id && one.after?.content[name] !== one.before?.content[name],
  );
  return (
    last?.actor === 'other' &&
    last.is === 'edited' &&
    last.atMs < readMs &&
    JSON.stringify(before.content[name]) !== JSON.stringify(base[name])
  );
}

/** Entries that neither end nor wait for a person nor show what they wait for. */
export function openForEver({ entries, pulls, kinds }: Recording): Found {
  const all = entries.map(({ entry }) => entry);
  const isReadable = kinds.every(({ name }) => pulls.at(-1)?.states.get(name) === 'certified');
  const isSilent = ({ state, verdict }: Entry): boolean => verdict === null || state === 'sending';
  return entries
    .filter(
      ({ entry, attempts }) =>
        (!isAtRest(entry, all) && (isReadable || isSilent(entry))) ||
        attempts.some(({ closedAt }) => closedAt === null),
    )
    .map(({ entry }) => ({
      invariant: 'open for ever',
      detail: `entry ${entry.id} is ${entry.state}, ${entry.verdict ?? 'without a word'}`,
    }));
}
