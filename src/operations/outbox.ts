import * as z from 'zod';
import { abandonEntry, adoptRecord, retryEntry, type DecidedEntry } from '../outbound/decisions/decide.ts';
import { entryDocument, STATES } from '../outbound/decisions/entry-list.ts';
import { resumeSends } from '../outbound/freeze.ts';
import { recordIdOrNumber, rowPath } from './inputs.ts';
import { operation } from './operation.ts';

/** The entry after the decision. */
const decided = z.looseObject({ id: z.int(), state: z.enum(STATES), warning: z.string().nullable() });

const documentOf = ({ entry, warning }: DecidedEntry) => ({ ...entryDocument(entry), warning });

export const retry = operation({
  name: 'retry',
  path: '/outbox/:id/retry',
  role: 'operator',
  words: {
    summary: 'look for an entry once more, and send it if it is not there',
    notice: 'The entry gets another try.',
  },
  input: rowPath,
  answer: decided,
  run: async ({ session, clock }, { id }) => documentOf(await retryEntry(session, id, clock.now())),
});

export const adopt = operation({
  name: 'adopt',
  path: '/outbox/:id/adopt',
  role: 'operator',
  words: {
    summary: 'say which record of the mirror a create has made: nothing is sent for it',
    notice: 'Adopted: the entry is done, and nothing is sent for it.',
  },
  input: rowPath.extend({ recordId: recordIdOrNumber }),
  answer: decided,
  run: async ({ session, kinds, clock }, { id, recordId }) =>
    documentOf(await adoptRecord(session, { kinds, id, recordId, now: clock.now() })),
});

export const abandon = operation({
  name: 'abandon',
  path: '/outbox/:id/abandon',
  role: 'operator',
  words: {
    summary: 'give an entry up: nothing more is sent for it',
    notice: 'Abandoned: nothing more is sent for the entry.',
  },
  input: rowPath,
  answer: decided,
  run: async ({ session, clock }, { id }) => documentOf(await abandonEntry(session, id, clock.now())),
});

export const resume = operation({
  name: 'resume',
  path: '/outbox/resume',
  role: 'operator',
  words: { summary: 'let sends go on after a database was restored', notice: 'Sends go on.' },
  input: z.strictObject({}),
  answer: z.object({ wasFrozen: z.boolean(), reason: z.string().optional(), since: z.string().optional() }),
  run: async ({ session, sendMark }) => {
    const frozen = await resumeSends(session, (await sendMark.read()) ?? 0);
    return { wasFrozen: frozen !== null, ...frozen };
  },
});
