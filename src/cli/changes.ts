import { Option, type Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { requireKnownKind } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { changeLine, followChanges } from '../feed/follow-changes.ts';
import { countChanges, streamChanges, seqBeforeLatest, type KeyedChange } from '../feed/read-changes.ts';
import { asOfInstant } from '../report/export/export-source.ts';
import type { Session } from '../db/session/session.ts';
import { firstSeqSince, latestSeq } from '../store/records/change-store.ts';
import { sanitizeJson, sanitizeLine } from '../lib/text/text.ts';
import { formatInstant, systemClock } from '../lib/time/clock.ts';
import { CHANGE_HEADER, changeRow } from './parts/change-row.ts';
import { EXIT, createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { parseSeq, parseWholeNumber } from './parts/input.ts';
import { moreText, printLine } from './parts/io.ts';

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
      const gone = new AbortController(); // The reader of stdout: `bms-sync changes --follow | head`.
      const print = (line: string): void => {
        io.stdout.write(`${line}\n`, (error) => {
          if (error) gone.abort();
        });
      };
      const signal = AbortSignal.any([io.signal, gone.signal]);
      const config = await context.keptSettings(options);
      if (options.kind !== undefined) requireKnownKind(config, options.kind); // Refuses an unknown one.
      let isEmpty = true;
      const onMore: OnMore = (shown, total, seq) => {
        const cure = seq === null ? '--limit N' : `--limit N, or --after ${seq}`;
        printLine(io.stderr, moreText(shown, total, cure));
      };
      for await (const change of changes(config, options, { signal, onMore })) {
        if (isEmpty && !options.json) CHANGE_HEADER.forEach(print);
        isEmpty = false;
        print(options.json ? sanitizeJson(changeLine(change)) : sanitizeLine(changeRow(change)));
      }
      if (isEmpty && !options.json && !options.follow) print('No change events.');
      if (io.signal.aborted && !options.follow) context.exit(EXIT.incomplete);
    });
}

/** Called where a list has more events than are shown; `seq`: the last one that is shown, null if the others are older. */
type OnMore = (shown: number, total: number, seq: number | null) => void;

/**
 * Yields change events in order; ends when the signal is aborted. A person gets the latest events; a program continues where it
 * stopped and must not miss any.
 */
async function* changes(
  config: Config,
  options: ChangesOptions,
  { signal, onMore }: { signal: AbortSignal; onMore: OnMore },
): AsyncGenerator<KeyedChange> {
  const { json, kind, limit, follow } = options;
  await using session = await openExistingMirror(config);
  const count = limit ?? (follow || json ? Infinity : SHOWN);
  if (count === 0) return;
  const after = await startOf(session, options, count, config.schedules.timezone);
  const events = follow
    ? followChanges(session, { after, kind }, systemClock, signal)
    : streamChanges(session, { after, upTo: await latestSeq(session), kind }, signal);
  let remaining = count;
  let last = after;
  for await (const event of events) {
    if (remaining-- === 0) {
      onMore(count, await countChanges(session, { after, kind }), last);
      return;
    }
    yield event;
    if (remaining === 0 && limit !== undefined) return;
    last = event.seq;
  }
  await reportOlder(session, options, count, onMore);
}

/** Reports that a list without a beginning shows the latest events alone. */
async function reportOlder(
  session: Session,
  { after, since, kind, json, follow }: ChangesOptions,
  shown: number,
  onMore: OnMore,
): Promise<void> {
  if (json || follow || after !== undefined || since !== undefined) return;
  const total = await countChanges(session, { kind });
  if (total > shown) onMore(shown, total, null);
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
