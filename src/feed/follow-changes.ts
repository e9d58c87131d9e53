import * as z from 'zod';
import { anyJson, documentOf, instant, objectNamed } from '../lib/json/document.ts';
import { sleepUnlessStopped, type Clock } from '../lib/time/clock.ts';
import type { Queryable } from '../db/session/session.ts';
import { streamChanges, readChanges, type KeyedChange } from './read-changes.ts';
import { latestSeq } from '../store/records/change-store.ts';

interface WantedPage extends FollowOptions {
  readonly limit: number;
}

/** Reads the first events after a `seq`. `next` is the `seq` to continue after; the page is complete up to it. */
export async function readChangesPage(db: Queryable, page: WantedPage) {
  const { after, kind, limit } = page;
  const upTo = await latestSeq(db);
  const changes = upTo > after ? await readChanges(db, { after, upTo, kind, limit }) : [];
  const last = changes.length < limit ? upTo : (changes.at(-1)?.seq ?? upTo);
  return { changes, next: Math.max(after, last) };
}

const POLL_MS = 250;

/** Reads the first events after a `seq`; where there are none, waits up to `waitMs` for the first. */
export async function waitForChanges(
  db: Queryable,
  wanted: WantedPage,
  { clock, signal, waitMs }: { clock: Clock; signal: AbortSignal; waitMs: number },
) {
  const deadline = clock.monotonicMs() + waitMs;
  for (let after = wanted.after; ;) {
    const page = await readChangesPage(db, { ...wanted, after });
    const leftMs = deadline - clock.monotonicMs();
    if (page.changes.length > 0 || leftMs <= 0 || signal.aborted) return page;
    after = page.next;
    await sleepUnlessStopped(Math.min(POLL_MS, leftMs), { clock, signal });
  }
}

export interface FollowOptions {
  readonly after: number;
  readonly kind?: string | undefined;
}

const FOLLOW_MS = 1_000;

/**
 * Hands out the events after a `seq` in order, each once, then waits for further ones; ends when the signal is aborted. Writers
 * commit in the order of `seq`: all events up to the latest visible one are there, and the cursor may pass those of other kinds.
 */
export async function* followChanges(
  db: Queryable,
  options: FollowOptions,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<KeyedChange> {
  let cursor = options.after;
  while (!signal.aborted) {
    const upTo = await latestSeq(db);
    yield* streamChanges(db, { after: cursor, upTo, kind: options.kind }, signal);
    cursor = Math.max(cursor, upTo);
    await sleepUnlessStopped(FOLLOW_MS, { clock, signal });
  }
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

/**
 * Writes an event as one line of JSON. The record's own JSON is inserted as stored: parsing it and writing it again could alter
 * its numbers and the order of its keys.
 */
export function changeLine(event: KeyedChange): string {
  const { before, after, fields } = event;
  const head = JSON.stringify(documentOf(eventHead, event));
  const content = `"before":${before ?? 'null'},"after":${after ?? 'null'},"fields":${fields}`;
  return `${head.slice(0, -1)},${content},${JSON.stringify(documentOf(eventEnd, event)).slice(1)}`;
}
