import { Option, type Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { requireKnownKind } from '../config/known-kinds.ts';
import { changeLine, followChanges } from '../events/follow-changes.ts';
import { countChanges, streamChanges, seqBeforeLatest, type KeyedChange } from '../events/read-changes.ts';
import { asOfInstant } from '../lib/time/as-of-instant.ts';
import type { Session } from '../db/session/session.ts';
import { firstSeqSince, latestSeq } from '../store/records/change-store.ts';
import { sanitizeJson, sanitizeLine } from '../lib/text/text.ts';
import { formatInstant, systemClock } from '../lib/time/clock.ts';
import { CHANGE_HEADER, changeRow } from './parts/change-row.ts';
import { EXIT, createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { parseSeq, parseWholeNumber } from './parts/input.ts';
import { moreText, printLine, type Output } from './parts/io.ts';

const SHOWN = 50;

interface ChangesOptions extends CommonOptions {
  readonly after?: number;
  readonly since?: string;
  readonly kind?: string;
  readonly limit?: number;
  readonly follow?: true;
}

export function changesCommand(context: CommandContext): Command {
  return createCommand('changes')
    .option('--after <seq>', 'only events after this one (default: the latest; with --json, all)', parseSeq)
    .addOption(
      new Option('--since <time>', 'only events since then: an instant, or a day').conflicts('after'),
    )
    .option('--kind <kind>', 'only events of this record kind')
    .option(
      '--limit <n>',
      `maximum number (default: ${SHOWN}; with --json or --follow, all)`,
      parseWholeNumber,
    )
    .option('--follow', 'wait for further events until Ctrl-C; without --after, show only these')
    .action(async (options: ChangesOptions) => {
      const { io } = context;
      const { json, follow, kind, limit } = options;
      const gone = new AbortController(); // The reader of stdout: `bms-sync changes --follow | head`.
      const print = (line: string): void => {
        io.stdout.write(`${line}\n`, (error) => {
          if (error) gone.abort();
        });
      };
      const config = await context.keptSettings(options);
      if (kind !== undefined) requireKnownKind(config, kind); // Refuses an unknown one.
      await using session = await openExistingMirror(config);
      // A person gets the latest events; a program continues where it stopped and must not miss any.
      const count = limit ?? (follow || json ? Infinity : SHOWN);
      if (count === 0) gone.abort();
      const after = await startOf(session, options, count, config.schedules.timezone);
      const signal = AbortSignal.any([io.signal, gone.signal]);
      const events = follow
        ? followChanges(session, { after, kind }, systemClock, signal)
        : streamChanges(session, { after, upTo: await latestSeq(session), kind }, signal);
      const last = await printEvents(events, count, print, options);
      if (limit === undefined && last !== undefined)
        await printMore(io.stderr, session, options, { after, last });
      if (io.signal.aborted && !follow) context.exit(EXIT.incomplete);
    });
}

/** Prints the first `count` events, and returns the number of the last one; undefined if there are fewer. */
async function printEvents(
  events: AsyncIterable<KeyedChange>,
  count: number,
  print: (line: string) => void,
  { json, follow }: ChangesOptions,
): Promise<number | undefined> {
  let shown = 0;
  for await (const change of events) {
    if (shown === 0 && !json) CHANGE_HEADER.forEach(print);
    print(json ? sanitizeJson(changeLine(change)) : sanitizeLine(changeRow(change)));
    shown += 1;
    if (shown === count) return change.seq;
  }
  if (shown === 0 && !json && !follow) print('No change events.');
  return undefined;
}

/** Prints of how many events some are shown: a list without a beginning shows the latest alone, the others are older. */
async function printMore(
  stderr: Output,
  session: Session,
  { after, since, kind }: ChangesOptions,
  shown: { readonly after: number; readonly last: number },
): Promise<void> {
  const isLatest = after === undefined && since === undefined;
  const total = await countChanges(session, { after: isLatest ? 0 : shown.after, kind });
  const cure = isLatest ? '--limit N' : `--limit N, or --after ${shown.last}`;
  if (total > SHOWN) printLine(stderr, moreText(SHOWN, total, cure));
}

/** The event after which the list begins. */
async function startOf(
  session: Session,
  { after, since, kind, json, follow }: ChangesOptions,
  count: number,
  timezone: string,
): Promise<number> {
  if (since !== undefined) {
    const { begin } = asOfInstant(since, systemClock.now(), timezone);
    return (await firstSeqSince(session, formatInstant(begin))) - 1;
  }
  if (after !== undefined) return after;
  return json && !follow ? 0 : seqBeforeLatest(session, kind, follow ? 0 : count);
}
