import type { Kind } from '../../catalog/kind.ts';
import { isRecordId } from '../../diff/compare-page.ts';
import { hasNaturalKeyOf } from '../../diff/match.ts';
import { tryParseJson, type Json } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { sentence } from '../../lib/text/text.ts';
import { sleepUnlessStopped, type Clock } from '../../lib/time/clock.ts';
import { readAttempts, findCreator } from '../../store/outbox/attempts-and-links.ts';
import { readBlocks } from '../../store/outbox/outbox-queue.ts';
import { findEnded, findEndedByKeys } from '../../store/outbox/ended-entries.ts';
import {
  countInStates,
  entriesAfter,
  findByKeys,
  findEntries,
  findEntry,
  listEntries,
  type Entry,
  type EntryState,
} from '../../store/outbox/outbox-store.ts';
import { findRecord } from '../../store/records/record-store.ts';
import { readRecordStory, type RecordStory } from '../../store/records/record-story.ts';
import type { Queryable } from '../../db/session/session.ts';
import { findHoldersNow } from '../intake/duplicate-check.ts';
import { validateStored } from '../intake/validate-entry.ts';
import { readOwnRows } from '../mirror-rows.ts';
import { payloadOf } from '../send/journal.ts';
import { readPossibleMatches } from '../send/possible-matches.ts';
import { readPause, type OutboxReader } from '../freeze.ts';
import { entryAbsent } from './decide.ts';
import { readSeenNames } from '../../store/kinds/field-store.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import { readFreshness, type KindFreshness } from '../../store/kinds/status-store.ts';
import { RESUME, pauseText, type Frozen } from '../../store/outbox/freeze-store.ts';
import { openRuns } from '../../store/runs/open-runs.ts';
import { hasLiveRole, readLiveOwners } from '../../store/runs/worker-store.ts';
import { describeOutcome, isFailedReading } from '../../words/outcome-texts.ts';
import { HELD_ROWS, NEXT_READING, VERDICTS } from '../../words/verdicts.ts';

/** States in the order in which they need a person. */
export const ENTRY_STATES = [
  'parked',
  'rejected',
  'unsettled',
  'sending',
  'ready',
  'done',
  'abandoned',
] as const satisfies readonly EntryState[];

/** States of an entry that is neither done nor given up. */
const OPEN_ENTRY_STATES: readonly EntryState[] = ENTRY_STATES.slice(0, -2);

/** What lists of entries can be narrowed to. */
export const STATE_FILTERS = ['all', 'open', ...ENTRY_STATES] as const;

export const statesOf = (filter: (typeof STATE_FILTERS)[number]): readonly EntryState[] =>
  filter === 'all' ? ENTRY_STATES : filter === 'open' ? OPEN_ENTRY_STATES : [filter];

export type OutboxList = Awaited<ReturnType<typeof listOutbox>>;

/**
 * Lists entries in these states: first the ones that need a person, then the newest. After an id, in the order of their ids: each
 * once, even if its state changes meanwhile. By a key, the one entry that has it.
 * @throws {SyncError} `outbox.ended` if only the key is kept.
 */
export async function listOutbox(
  reader: EntryReader,
  wanted: {
    readonly states: readonly EntryState[];
    readonly limit: number;
    readonly after?: number | undefined;
    readonly key?: string | undefined;
  },
) {
  const { session: db } = reader;
  const { states, limit, after, key } = wanted;
  const read =
    key !== undefined
      ? (await listByKey(db, key)).filter((entry) => states.includes(entry.state))
      : after === undefined
        ? await listByUrgency(db, states, limit)
        : await entriesAfter(db, states, limit, after);
  const frozen = await readPause(reader);
  const entries = await showStanding(reader, read, frozen);
  return { entries, blockedKinds: await readBlocks(db), frozen };
}

/**
 * What keeps all entries from being sent at present: a verdict and a note, neither stored; null where a process at work sends.
 * @param pause Why sends are paused, where it has just been read.
 */
export async function readSendStop(reader: OutboxReader, pause?: Frozen | null) {
  const frozen = pause === undefined ? await readPause(reader) : pause;
  if (frozen !== null)
    return { verdict: 'paused', note: `${sentence(pauseText(frozen))} ${RESUME}` } as const;
  if (await hasLiveRole(reader.session, 'outbound')) return null;
  return { verdict: 'writes_off', note: `${VERDICTS.writes_off} (writes_off)` } as const;
}

type EntryReader = OutboxReader & { readonly kinds: readonly Kind[] };

/**
 * Shows entries as they stand: one that is due has the verdict of what keeps it from being sent, one that waits with another verdict
 * has it as a note, one that waits for a reading has the cause of today, one whose process has ended is sent by nobody, one with an unknown outcome has the records that the mirror shows by
 * now, one that waits for a person whether it still has to, one that is being sent or was abandoned has no verdict of before, and a done one, which earlier releases looked at again, no next attempt.
 */
export async function showStanding(reader: EntryReader, entries: readonly Entry[], pause?: Frozen | null) {
  const { session: db, kinds } = reader;
  const stop = await readSendStop(reader, pause);
  const living = await readLiveOwners(db);
  const isTokenRefused = (await readMeta(db, 'source.refused')) !== null;
  const readings = new Map((await readFreshness(db)).map((reading) => [reading.kind, reading]));
  const pulls = (await openRuns(db)).filter((run) => run.command === 'pull' && run.isRequested);
  const beingRead = new Set(pulls.flatMap((run) => run.kinds));
  const verdictNow = ({ state, verdict, owner }: Entry): string | null => {
    if (state === 'sending') return owner !== null && !living.has(owner) ? 'interrupted' : null;
    if (state === 'abandoned') return null;
    return state === 'ready' ? (verdict ?? stop?.verdict ?? null) : verdict;
  };
  const withReasonNow = (entry: Entry): Entry => {
    const { state, verdict, settlement } = entry;
    if (state === 'done') return { ...entry, nextAttemptAt: null };
    const reading = readings.get(entry.kind);
    if (!['ready', 'unsettled', 'parked'].includes(state) || !settlement.awaits || !reading) return entry;
    const isUnsearched = state === 'unsettled' && settlement.search === undefined;
    const why = waitsFor(reading, beingRead.has(entry.kind) || isUnsearched) ?? settlement.awaits.why;
    return {
      ...entry,
      verdict: isTokenRefused && verdict === 'awaits_sweep' ? 'token_refused' : verdict,
      settlement: { ...settlement, awaits: { ...settlement.awaits, why } },
    };
  };
  const shown: Entry[] = [];
  for (const stored of entries) {
    const { verdict = verdictNow(stored), ...ids } = await readPresent(db, kinds, stored);
    const isWaiting = stored.state === 'ready' || stored.state === 'unsettled';
    const settlement = {
      ...stored.settlement,
      ...ids,
      stop: isWaiting && verdict !== stop?.verdict ? stop?.verdict : undefined,
    };
    shown.push(withReasonNow({ ...stored, verdict, settlement }));
  }
  return shown;
}

/** Why an entry waits for a reading of its kind; null if the latest reading says nothing. */
function waitsFor(reading: KindFreshness, isNext: boolean): string | null {
  if (reading.reason === 'absences_unproven' && reading.heldDeletions > 0) return HELD_ROWS;
  if (isNext && !isFailedReading(reading.state)) return NEXT_READING;
  return describeOutcome({ ...reading, missing: null }).why;
}

/** What the mirror shows of an entry by now: the records that it may have made or would double, and another verdict, where it has one. */
async function readPresent(
  db: Queryable,
  kinds: readonly Kind[],
  entry: Entry,
): Promise<{ readonly ids?: readonly string[]; readonly verdict?: string }> {
  const { state, verdict, recordId } = entry;
  const kind = kinds.find(({ name }) => name === entry.kind);
  if (kind === undefined || state === 'abandoned') return {};
  if (state === 'unsettled') {
    const ids = await readNamesakes(db, kind, entry);
    return ids.length > 0 ? { ids, verdict: 'found' } : { ids };
  }
  const ids = state === 'parked' ? await findHoldersNow(db, kind, entry) : [];
  if (ids.length > 0) return { ids, verdict: 'existed' };
  let isOver = verdict === 'existed';
  if (verdict === 'no_such_record' && recordId !== null)
    isOver = (await readOwnRows(db, kind.name, [recordId])).get(recordId)?.isLive === true;
  if (verdict === 'invalid')
    isOver = 'ok' in validateStored(kinds, entry, await readSeenNames(db, [kind.name]));
  return isOver ? { verdict: 'over', ids: [] } : {};
}

/** The new records with the natural key of a create with an unknown outcome, but for those that a person has decided against. */
async function readNamesakes(db: Queryable, kind: Kind, entry: Entry): Promise<string[]> {
  const matches = await readPossibleMatches(db, kind, entry);
  const namesakes = matches.filter(({ record }) => hasNaturalKeyOf(kind, payloadOf(entry), record));
  return namesakes.map(({ id }) => id).filter((id) => !candidatesOf(entry).includes(id));
}

async function listByKey(db: Queryable, key: string): Promise<Entry[]> {
  const [ended] = await findEndedByKeys(db, [key]);
  if (ended !== undefined) throw await entryGoneError(db, ended.id);
  return findByKeys(db, [key]);
}

async function listByUrgency(db: Queryable, states: readonly EntryState[], limit: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const state of ENTRY_STATES.filter((listed) => states.includes(listed))) {
    const left = limit - entries.length;
    if (left > 0) entries.push(...(await listEntries(db, [state], left)));
  }
  return entries;
}

/** Reads the story of a record, with its entries as they stand; null where the mirror has no trace of the record. */
export async function readShownStory(
  reader: EntryReader,
  kind: Kind,
  id: string,
): Promise<RecordStory | null> {
  const story = await readRecordStory(reader.session, kind, id);
  if (story === null) return null;
  const tried = story.entries.map((one) => one.entry);
  const standing = await showStanding(reader, tried);
  return {
    ...story,
    entries: story.entries.map((one, at) => ({ ...one, entry: standing[at] ?? one.entry })),
  };
}

export type EntryHistory = Awaited<ReturnType<typeof readHistory>>;

/** A record that a create may have made. */
export interface Candidate {
  readonly id: string;
  /** As JSON text; null if it is not in the mirror. */
  readonly raw: string | null;
}

const CANDIDATES_SHOWN = 3;

/**
 * The number of an entry by its number or its key, even if only the key is kept; a text that is both is the number.
 * @throws {SyncError} `outbox.absent` if no entry has the key.
 */
export async function findEntryId(db: Queryable, idOrKey: string): Promise<number> {
  const id = /^[1-9]\d{0,14}$/.test(idOrKey) ? Number(idOrKey) : null;
  if (id !== null && ((await findEntry(db, id)) ?? (await findEnded(db, id))) !== null) return id;
  const [entry] = [...(await findByKeys(db, [idOrKey])), ...(await findEndedByKeys(db, [idOrKey]))];
  if (entry === undefined) throw entryAbsent(idOrKey);
  return entry.id;
}

/**
 * Reads an entry with everything that was tried for it, the first records that a create may have made, and whether the link of its
 * record names it as the creator (`isMaker`).
 * @throws {SyncError} `outbox.ended` if only the entry's key is kept, `outbox.absent` if there is no such entry.
 */
export async function readHistory(reader: EntryReader, id: number) {
  const { session: db } = reader;
  const found = await findEntry(db, id);
  if (found === null) throw await entryGoneError(db, id);
  const [entry = found] = await showStanding(reader, [found]);
  const { kind, recordId } = entry;
  const maker = recordId === null ? null : await findCreator(db, kind, recordId);
  const candidates: Candidate[] = [];
  for (const candidate of candidatesOf(entry).slice(0, CANDIDATES_SHOWN))
    candidates.push({ id: candidate, raw: (await findRecord(db, kind, candidate))?.raw ?? null });
  return { entry, attempts: await readAttempts(db, id), isMaker: maker === id, candidates };
}

async function entryGoneError(db: Queryable, id: number): Promise<SyncError> {
  const ended = await findEnded(db, id);
  if (ended === null) return entryAbsent(id);
  const { operation, kind, recordId, state, updatedAt } = ended;
  const description = `${operation} of ${kind}${recordId === null ? '' : `, record ${recordId}`}`;
  return new SyncError(
    `Entry ${id} (${description}) ended as ${state} on ${updatedAt}; only its key is kept.`,
    {
      code: 'outbox.ended',
      hint: 'The setting retention.outboxDays sets how long entries are kept complete.',
    },
  );
}

/** Records that a create may have made, as the searches for it noted them. */
export const candidatesOf = (entry: Entry) => (entry.settlement.ids ?? []).filter(isRecordId);

/** JSON of the outbox, parsed; text that an application stored in another form stays text. */
export function jsonOrText(text: string | null): Json {
  const value = text === null ? null : tryParseJson(text);
  return value === undefined ? text : value;
}

const POLL_MS = 500;
/** The states of entries that go on by themselves. */
const IN_PROGRESS: readonly EntryState[] = ['ready', 'sending', 'unsettled'];

/** Waits until these entries are done or need a person, or the time is up; returns their states. */
export async function waitForEntries(
  db: Queryable,
  ids: readonly number[],
  waiting: {
    readonly clock: Clock;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Entry[]> {
  const { clock, timeoutMs, signal } = waiting;
  const deadline = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const left = await countInStates(db, ids, IN_PROGRESS);
    const leftMs = deadline - clock.monotonicMs();
    if (left === 0 || signal.aborted || leftMs <= 0) return findEntries(db, ids);
    await sleepUnlessStopped(Math.max(1, Math.min(POLL_MS, leftMs)), waiting);
  }
}
