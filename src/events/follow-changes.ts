import * as z from 'zod';
import { anyJson, documentOf, instant, objectNamed } from '../lib/json/document.ts';
import { sleepUnlessStopped, type Clock } from '../lib/time/clock.ts';
import type { Queryable } from '../db/session/session.ts';
import { eventJson, readChanges, type KeyedChange } from './read-changes.ts';
import { readMeta } from '../store/kinds/meta.ts';
import { latestSeq } from '../store/records/change-store.ts';

/** What a reader continues from: the `seq` that it has read up to (0 = nothing yet), and the log that this counts in, if it knows. */
export interface Position {
  readonly after: number;
  readonly log?: string | undefined;
}

/** Finds out whether a reader can continue. `log` is new after an accepted restore: then the numbers come a second time. */
export async function locateReader(db: Queryable, { after, log: ofReader }: Position) {
  const log = (await readMeta(db, 'log')) ?? '';
  const next = await latestSeq(db);
  const removedUpTo = Number((await readMeta(db, 'changes.removed_up_to')) ?? 0);
  const isGone = after > next || (after > 0 && after < removedUpTo);
  return { log, next, isLost: isGone || (ofReader !== undefined && ofReader !== log) };
}

/** Reads the first events after a `seq`. `next` is the `seq` to continue after; the page is complete up to it. */
export async function readChangesPage(db: Queryable, page: FollowOptions & { readonly limit: number }) {
  const { after, kind, limit } = page;
  const upTo = await latestSeq(db);
  const changes = upTo > after ? await readChanges(db, { after, before: upTo + 1, kind, limit }) : [];
  const last = changes.length < limit ? upTo : (changes.at(-1)?.seq ?? upTo);
  return { changes, next: Math.max(after, last) };
}

export interface FollowOptions {
  readonly after: number;
  readonly kind?: string | undefined;
}

const PAGE = 500;
const POLL_MS = 250;

/**
 * Yields pages of the events after a `seq` in order, each event once, then waits for further ones; an empty page where none came
 * for `quietMs`. Ends when the signal is aborted. Writers commit in the order of `seq`: all events up to the latest visible one are
 * there, and the cursor may pass those of other kinds.
 */
export async function* followPages(
  db: Queryable,
  { after, kind }: FollowOptions,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  quietMs = Infinity,
): AsyncGenerator<readonly KeyedChange[]> {
  let yieldedMs = clock.monotonicMs();
  for (let cursor = after; !signal.aborted;) {
    const { changes, next } = await readChangesPage(db, { after: cursor, kind, limit: PAGE });
    cursor = next;
    if (changes.length > 0 || clock.monotonicMs() - yieldedMs >= quietMs) {
      yield changes;
      yieldedMs = clock.monotonicMs();
    }
    if (changes.length < PAGE) await sleepUnlessStopped(POLL_MS, { clock, signal });
  }
}

/** Yields the events of these pages one by one. */
export async function* followChanges(
  db: Queryable,
  options: FollowOptions,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<KeyedChange> {
  for await (const page of followPages(db, options, { clock, signal })) yield* page;
}

const eventHead = z.object({
  seq: z.int(),
  kind: z.string(),
  recordId: z.string(),
  change: z.enum(['created', 'updated', 'deleted', 'restored']),
  observedFrom: instant.nullable(),
  observedAt: instant,
});

const eventEnd = z.object({
  origin: z.string().describe('service, or outbox:ID'),
  key: z.string().nullable().describe('of that entry, from its caller; null once the record is forgotten'),
  runId: z.int().nullable(),
});

/** An event as `changeLine` writes it. */
export const changeDocument = eventHead.extend({
  before: objectNamed('Record').nullable(),
  after: objectNamed('Record').nullable(),
  fields: z.record(z.string(), z.tuple([anyJson, anyJson])).describe('old and new value'),
  ...eventEnd.shape,
});

/** Writes an event as one line of JSON. */
export const changeLine = (event: KeyedChange): string =>
  eventJson(documentOf(eventHead, event), event, documentOf(eventEnd, event));
