import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { kindNamed } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { changeLine, followChanges } from '../feed/follow-changes.ts';
import { changesBetween, seqBeforeLatest } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import type { RecordedChange } from '../feed/read-changes.ts';
import { plainJson, plainLine } from '../lib/text/text.ts';
import { systemClock } from '../lib/time/clock.ts';
import { CHANGE_HEADER, changeRow } from './parts/change-row.ts';
import { EXIT, createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { seqNumber, wholeNumber } from './parts/input.ts';
import type { Output } from './parts/io.ts';

/** The number of events for a person who gives none. */
const SHOWN = 50;

interface ChangesOptions extends CommonOptions {
  readonly after?: number;
  readonly kind?: string;
  readonly limit?: number;
  readonly follow?: true;
}

export function changesCommand(context: CommandContext): Command {
  return createCommand('changes', 'show what happened to the records; with --json, one object a line')
    .option('--after <seq>', 'only events after this one (default: the latest; with --json, all)', seqNumber)
    .option('--kind <kind>', 'only events of this record kind')
    .option('--limit <n>', `at most so many (default: ${SHOWN}; with --json or --follow, all)`, wholeNumber)
    .option('--follow', 'wait for further events until Ctrl-C; without --after, show only these')
    .action((options: ChangesOptions) => printChanges(context, options));
}

async function printChanges(context: CommandContext, options: ChangesOptions): Promise<void> {
  const { io } = context;
  const lines = createLines(io.stdout);
  const toLine = options.json ? jsonLine : personLine;
  let isEmpty = true;
  const signal = AbortSignal.any([io.signal, lines.broken]);
  for await (const change of changes(settingsOf(context, options), requestOf(options), signal)) {
    if (isEmpty && !options.json) CHANGE_HEADER.forEach(lines.print);
    isEmpty = false;
    lines.print(toLine(change));
  }
  if (isEmpty && !options.json && !options.follow) lines.print('No change events.');
  if (io.signal.aborted && !options.follow) context.exit(EXIT.incomplete);
}

interface ChangesRequest {
  /** Where to begin: after a `seq`, or with a number of latest events. */
  readonly from: { readonly after: number } | { readonly latest: number };
  readonly kind: string | undefined;
  /** At most so many; Infinity for all. */
  readonly limit: number;
  /** Then wait for further ones. */
  readonly isFollowing: boolean;
}

/** A person gets the latest events; a program continues where it stopped and must not miss any. */
function requestOf({ json, after, kind, limit, follow }: ChangesOptions): ChangesRequest {
  const isFollowing = follow === true;
  const shown = limit ?? (isFollowing || json ? Infinity : SHOWN);
  const latest = isFollowing ? 0 : shown;
  const from = after === undefined && (isFollowing || !json) ? { latest } : { after: after ?? 0 };
  return { from, kind, limit: shown, isFollowing };
}

/**
 * Yields change events in order; ends when the signal is aborted.
 *
 * @throws {UsageError} For an unknown kind.
 */
async function* changes(
  config: Config,
  { from, kind, limit, isFollowing }: ChangesRequest,
  signal: AbortSignal,
): AsyncGenerator<RecordedChange> {
  if (kind !== undefined) kindNamed(config, kind);
  await using session = await openExistingMirror(config);
  const after = 'after' in from ? from.after : await seqBeforeLatest(session, kind, from.latest);
  let left = limit;
  if (left === 0) return;
  const events = isFollowing
    ? followChanges(session, { after, kind }, { clock: systemClock, signal })
    : changesBetween(session, { after, upTo: await latestSeq(session), kind }, signal);
  for await (const event of events) {
    yield event;
    if (--left === 0) return;
  }
}

const jsonLine = (change: RecordedChange): string => plainJson(changeLine(change));
const personLine = (change: RecordedChange): string => plainLine(changeRow(change));

interface Lines {
  readonly print: (line: string) => void;
  /** Aborted once the reader of stdout has gone: `bms-sync changes --follow | head`. */
  readonly broken: AbortSignal;
}

function createLines(output: Output): Lines {
  const gone = new AbortController();
  const written = (error?: Error | null): void => {
    if (error) gone.abort();
  };
  return {
    print: (line) => {
      output.write(`${line}\n`, written);
    },
    broken: gone.signal,
  };
}
