import { Option, type Command } from 'commander';
import type { JsonObject } from '../../lib/json/json.ts';
import { countEntries } from '../../store/outbox/outbox-store.ts';
import { historyDocument, outboxDocument } from '../../outbound/decisions/entry-document.ts';
import {
  findEntryId,
  listOutbox,
  readHistory,
  STATE_FILTERS,
  statesOf,
} from '../../outbound/decisions/entry-list.ts';
import { outboxOperations } from '../../operations/outbox.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../parts/command.ts';
import { parseWholeNumber } from '../parts/input.ts';
import { takeFirst } from '../parts/io.ts';
import { readingCommand, withOperations, type OpenMirror } from '../parts/operation-command.ts';
import { historyTexts, outboxTexts } from '../parts/outbox-print.ts';

const LISTED = 50;

interface ListOptions extends CommonOptions {
  readonly all?: true;
  readonly state?: (typeof STATE_FILTERS)[number];
  readonly limit?: number;
}

export function outboxCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list open, parked and rejected entries; those that need you first')
    .option('--all', 'list done and abandoned entries too: --state all')
    .addOption(new Option('--state <state>', 'only entries in this state').choices(STATE_FILTERS))
    .option('--limit <n>', `maximum number (default: ${LISTED})`, parseWholeNumber);
  readingCommand(context, list, async ({ session, options, parts }: OpenMirror<ListOptions>) => {
    const { all, state = all ? 'all' : 'open', limit } = options;
    const wanted = { states: statesOf(state), limit: limit ?? LISTED + 1 };
    const read = await listOutbox(parts, wanted);
    const counts = await countEntries(session);
    const total = wanted.states.reduce((sum, each) => sum + (counts[each] ?? 0), 0);
    const listed = { ...read, entries: takeFirst(read.entries, limit ?? LISTED, context.io, { total }) };
    const { done = 0, abandoned = 0 } = state === 'open' && limit !== 0 ? counts : {};
    return [outboxDocument(listed), outboxTexts(listed, { done, abandoned })];
  });
  const show = createCommand('show', 'show one entry with its attempts and your next steps').argument(
    '<id|key>',
    'the number of the entry, or its key; digits are a number first',
  );
  readingCommand(context, show, async ({ session, parts }, idOrKey: string) => {
    const history = await readHistory(parts, await findEntryId(session, idOrKey));
    return [historyDocument(history), historyTexts(history)];
  });
  const outbox = createCommand('outbox').addCommand(list, { isDefault: true }).addCommand(show);
  const resume = { lines: frozenText, hasWorked: wasFrozen };
  const retry = { lines: ({ meaning }: JsonObject) => (typeof meaning === 'string' ? [meaning] : []) };
  return withOperations(context, outbox, outboxOperations, { resume, retry });
}

const wasFrozen = ({ reason }: JsonObject): boolean => typeof reason === 'string';

const frozenText = ({ reason }: JsonObject): readonly string[] => [
  typeof reason === 'string' ? `They were paused: ${reason}.` : 'Sends were not paused.',
];
