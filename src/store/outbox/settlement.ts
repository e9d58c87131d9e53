import * as z from 'zod';

const names = z.array(z.string()).readonly();

/** The latest search for the record of a lost send. */
const search = z.object({
  /** When it was due, in milliseconds since the send was lost. */
  due: z.number(),
  /** The run that was requested then: this sweep and later ones count. */
  run: z.number(),
});

/** Since when an entry waits for its kind to be read, and why the latest reading was not enough. */
const awaitedReading = z.object({
  since: z.string(),
  /** An English message key. */
  why: z.string(),
  /** The first run that was asked for. */
  run: z.number().optional(),
  /** The records that stand against it. */
  records: names.optional(),
});

/** What the next step on an entry must know of the earlier ones. */
const settlement = z
  .object({
    /** Records that may be the entry's. */
    ids: names,
    /** The id in the answer to a create that showed nothing else of it: a record's, or a job's. */
    named: z.string(),
    /** A person has seen the quarantined records and decided against them too. */
    hasUnreadable: z.boolean(),
    /** Records that stood against a conclusion from the lists, by name. */
    barring: names,
    /** A person requested another try, and the service has postponed it since. */
    isAskedFor: z.boolean(),
    /** Who has ended the waiting for a lost send, and when. */
    hurried: z.object({ by: z.string(), at: z.string() }),
    /** The service itself answered that it failed. */
    hasFailed: z.boolean(),
    /** It is not sent again before; `isSoon`: a part of patience is enough. */
    resendAt: z.string(),
    isSoon: z.boolean(),
    search,
    awaits: awaitedReading,
    /** Since when the service has refused it, without another outcome in between. */
    refusedSince: z.string(),
    /** When a person decided that the record to update is the same one, whatever it shows, or that a create's equals are others. */
    sameSince: z.string(),
    /** Since when the service does not show the record to update. */
    goneSince: z.string(),
    /** Readings of the record to update that have failed. */
    failedReads: z.number(),
    /** Fields of an update that the service does not show any more. */
    hidden: names,
    /** Fields of a finished update that another user may have written. */
    unproven: names,
    /** Never stored: what keeps the entry from going on at present, where its verdict says something else. */
    stop: z.enum(['paused', 'writes_off']),
  })
  .partial()
  .readonly();

export type Search = Readonly<z.infer<typeof search>>;
export type AwaitedReading = Readonly<z.infer<typeof awaitedReading>>;
export type SettlementNotes = z.infer<typeof settlement>;

/** Reads the column `settlement` of an entry. */
export const parseSettlement = (text: string | null): SettlementNotes =>
  text === null ? {} : settlement.parse(JSON.parse(text));

/** Writes it; null where there is nothing to know. */
export function formatSettlement(notes: SettlementNotes): string | null {
  const text = JSON.stringify(notes);
  return text === '{}' ? null : text;
}
