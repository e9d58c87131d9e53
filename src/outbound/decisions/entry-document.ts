import * as z from 'zod';
import { anyJson, documentOf, instant, storedJson, type DocumentOf } from '../../lib/json/document.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import type { Watermark } from '../../store/records/record-store.ts';
import { explain } from '../../words/verdicts.ts';
import { jsonOrText, ENTRY_STATES, type EntryHistory, type OutboxList } from './entry-list.ts';

const entry = z.object({
  id: z.int(),
  key: z.string(),
  kind: z.string(),
  operation: z.enum(['create', 'update']),
  recordId: z.string().nullable(),
  state: z.enum(ENTRY_STATES),
  verdict: z.string().nullable().describe('a stable word: why it is where it is'),
  meaning: z.string(),
  attempts: z.int(),
  nextAttemptAt: instant.nullable().describe('the next attempt; unsettled: the next look, not a send'),
  createdAt: instant,
  updatedAt: instant,
  pushedBy: z.string().nullable().describe('who has pushed it; null: a program, by SQL'),
  payload: storedJson('Data'),
  result: anyJson,
});

const attempt = z.object({
  n: z.int(),
  openedAt: instant,
  closedAt: instant.nullable(),
  grade: z.string().nullable(),
  status: z.int().nullable(),
  request: z.string(),
  responseStart: z.string().nullable(),
});

/** One entry with everything that was tried for it. */
export const shownEntry = entry.extend({
  next: z.array(z.string()).describe('what a person can do'),
  owner: z.string().nullable(),
  naturalKey: z.string().nullable(),
  allowUnknown: z.boolean().describe('unknown fields are sent, too'),
  allowDouble: z.boolean().describe('made although a record has its natural key'),
  isMaker: z.boolean(),
  base: storedJson('Record'),
  preimage: z
    .object({ tick: z.int(), at: instant, seq: z.int().nullable() })
    .nullable()
    .describe('the state of the mirror before the last send'),
  candidates: z
    .array(z.object({ id: z.string(), record: storedJson('Record') }))
    .describe('what a create may have made'),
  history: z.array(attempt),
});

/** A kind that the service does not let us write, and when it is tried again. */
export const writeBlock = z.object({
  kind: z.string(),
  reason: z.string(),
  since: instant,
  probeAt: instant,
});

/** Why nothing is sent, and since when; null if sends go out. */
export const stopped = z
  .object({
    reason: z.string(),
    since: instant.nullable().describe('null: found by nothing at work yet'),
    unknown: z.array(z.string()).optional().describe('sends that the database does not know of'),
  })
  .nullable();

/** Entries, and what keeps all of them from being sent. */
export const outbox = z.object({
  entries: z.array(entry),
  blockedKinds: z.array(writeBlock),
  frozen: stopped,
});

/** The entry after a person's decision. */
export const decidedEntry = entry.extend({ warning: z.string().nullable() });

/** An entry just stored, or stored before under the same key. */
export const storedEntry = entry
  .pick({ id: true, state: true, key: true, kind: true, operation: true, recordId: true })
  .extend({ isNew: z.boolean(), notes: z.array(z.string()) });

/** The same, with its outcome where its caller has waited for it. */
export const pushedEntry = storedEntry.extend({
  verdict: entry.shape.verdict.optional(),
  meaning: entry.shape.meaning.optional(),
  result: entry.shape.result.optional().describe('verdict, meaning and result: only after waiting'),
});

export function pushedDocument(
  stored: DocumentOf<typeof storedEntry>,
  outcome: Entry | undefined,
): DocumentOf<typeof pushedEntry> {
  if (outcome === undefined) return stored;
  const { state, recordId, verdict } = outcome;
  const { meaning, result } = explained(outcome);
  return { ...stored, state, recordId, verdict, meaning, result };
}

/** An entry as programs see it in a list. */
export const entryDocument = (from: Entry): DocumentOf<typeof entry> => documentOf(entry, explained(from));

const explained = (from: Entry) => ({
  ...from,
  meaning: explain(from).meaning,
  payload: jsonOrText(from.payload),
  result: jsonOrText(from.result),
});

/** An entry as programs see it alone. */
export function historyDocument(history: EntryHistory): DocumentOf<typeof shownEntry> {
  const { entry: from, attempts, isMaker, candidates } = history;
  return documentOf(shownEntry, {
    ...explained(from),
    next: explain(from).next,
    allowUnknown: from.allowsUnknown,
    allowDouble: from.allowsDouble,
    isMaker,
    base: jsonOrText(from.base),
    preimage: jsonOrText(from.preimage) as Watermark | null,
    candidates: candidates.map((candidate) => ({ id: candidate.id, record: jsonOrText(candidate.raw) })),
    history: attempts,
  });
}

export function outboxDocument({ entries, ...stops }: OutboxList): DocumentOf<typeof outbox> {
  return documentOf(outbox, { entries: entries.map(entryDocument), ...stops });
}
