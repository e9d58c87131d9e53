import * as z from 'zod';
import { abandonEntry, adoptRecord, retryEntry, type DecidedEntry } from '../outbound/decisions/decide.ts';
import { decidedEntry, entryDocument } from '../outbound/decisions/entry-document.ts';
import { readSendStop, showStanding } from '../outbound/decisions/entry-list.ts';
import { instant } from '../lib/json/document.ts';
import { resumeSends } from '../outbound/freeze.ts';
import { flag, recordIdOrNumber, rowPath } from './inputs.ts';
import { operation, type OperationContext } from './operation.ts';

const entryPath = z.strictObject({
  id: rowPath.shape.id.describe('number, as the list shows it; a command takes the key, too'),
});

async function documentOf(context: OperationContext, { entry, warning }: DecidedEntry) {
  const [shown = entry] = await showStanding(context, [entry]);
  return { ...entryDocument(shown), warning };
}

export const retryOutboxEntry = operation({
  path: '/outbox/:id/retry',
  role: 'operator',
  summary: 'try the entry again, unless the service already has it',
  notice: 'The retry is noted.',
  takesSeveral: true,
  input: entryPath.extend({
    overwrite: flag
      .or(z.iso.datetime())
      .describe('replace the values that a conflict has shown; as a time: only those of this updatedAt'),
    allowDouble: flag.describe('of a create that a record may be already (existed): make a second record'),
    now: flag.describe('of a create with an unknown outcome: do not wait any longer'),
  }),
  answer: decidedEntry,
  run: async (context, input) => {
    const { session, kinds, clock, by } = context;
    const { now, ...order } = input;
    const hurriedBy = now === true ? by.who : undefined;
    return documentOf(context, await retryEntry(session, kinds, { ...order, hurriedBy }, clock.now()));
  },
});

export const adoptOutboxEntry = operation({
  path: '/outbox/:id/adopt',
  role: 'operator',
  summary: 'link a create to the record that it made; nothing more is sent',
  notice: 'Adopted: the entry is done; nothing more is sent.',
  input: entryPath.extend({ recordId: recordIdOrNumber }),
  answer: decidedEntry,
  run: async (context, input) => {
    const { session, kinds, clock } = context;
    return documentOf(context, await adoptRecord(session, { kinds, ...input, now: clock.now() }));
  },
});

export const abandonOutboxEntry = operation({
  path: '/outbox/:id/abandon',
  role: 'operator',
  summary: 'send nothing more for the entry',
  notice: 'Nothing more is sent for the entry.',
  takesSeveral: true,
  input: entryPath,
  answer: decidedEntry,
  run: async (context, { id }) => {
    const { session, clock } = context;
    return documentOf(context, await abandonEntry(session, id, clock.now()));
  },
});

const resumeOutbox = operation({
  path: '/outbox/resume',
  role: 'operator',
  summary: 'resume sends after a database was restored',
  notice: 'Sends are no longer paused.',
  input: z.strictObject({}),
  answer: z.object({
    wasFrozen: z.boolean(),
    reason: z.string().optional(),
    since: instant.nullish(),
    unknown: z.array(z.string()).optional(),
    warning: z.string().nullable().describe('why nothing is sent all the same'),
  }),
  run: async (context) => {
    const frozen = await resumeSends(context.session, context.sendCounter);
    const stop = await readSendStop(context);
    return { wasFrozen: frozen !== null, ...frozen, warning: stop?.note ?? null };
  },
});

export const outboxOperations = [retryOutboxEntry, adoptOutboxEntry, abandonOutboxEntry, resumeOutbox];
