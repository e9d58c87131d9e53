import { openConfiguredSource } from '../../app/open-source.ts';
import type { Config } from '../../config/settings.ts';
import type { Session } from '../../db/session/session.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { THIS_PROCESS } from '../../lib/owner.ts';
import type { Progress, PullParts } from '../../pull/parts.ts';
import { type CommandContext } from './command.ts';
import { printLine, type Io, type Output } from './io.ts';

export type ProgressDisplay = ReturnType<typeof createProgress>;

/** Shows the progress of a reading on stderr. @param options `of`: how many kinds the command reads; absent = unknown. */
export function createProgress(stderr: Output, { of }: { readonly of?: number } = {}) {
  const kinds: string[] = [];
  let latest: Progress | null = null;
  const line = createLine(stderr, () => {
    if (latest === null) return null;
    const { kind, rows, pages, lastPage, others = 0 } = latest;
    const place = of === undefined || of === 1 ? '' : ` (${kinds.indexOf(kind) + 1} of ${of})`;
    const parts = [`${kind}${place}`];
    if (rows !== undefined) parts.push(`${rows.toLocaleString('en-US')} rows`);
    if (pages > 0)
      parts.push(lastPage === null ? `page ${pages}` : `page ${pages} of ${Math.max(pages, lastPage)}`);
    if (others > 0) parts.push(`and ${others} more`);
    return parts.join('  ');
  });
  return {
    onProgress: (progress: Progress): void => {
      latest = progress;
      if (kinds.includes(progress.kind)) return;
      kinds.push(progress.kind);
      line.draw();
    },
    stop: line.stop,
    stderr: line.stderr, // Where logs go while the display is up: they never tear its line.
  };
}

/** Runs a reading with its progress shown; the display is gone before the report is printed. */
export async function showingProgress<T>(
  io: Io,
  options: { readonly of?: number },
  read: (display: ProgressDisplay) => Promise<T>,
): Promise<T> {
  const display = createProgress(io.stderr, options);
  try {
    return await read(display);
  } finally {
    display.stop();
  }
}

/** Reads the service beside the mirror that `open` opens, with its progress shown. */
export function readingService<T>(
  context: CommandContext,
  config: Config,
  { open, ...options }: { readonly of?: number; readonly open: (config: Config) => Promise<Session> },
  read: (parts: PullParts) => Promise<T>,
): Promise<T> {
  const { signal } = context.io;
  const clock = systemClock;
  return showingProgress(context.io, options, async (display) => {
    const { stderr, onProgress } = display;
    const logger = await context.logger(config, stderr);
    await using source = openConfiguredSource(config, { clock, logger });
    await using session = await open(config);
    return await read({ session, source, clock, owner: THIS_PROCESS, logger, onProgress, signal });
  });
}

const REDRAWN_EVERY_MS = 250;
const LINE_EVERY_MS = 10_000;
const CLEARED_LINE = '\r\u{1b}[2K';

/** A line that is drawn again where it stands on a terminal, and a line every ten seconds elsewhere. @param text null = none yet. */
function createLine(stderr: Output, text: () => string | null) {
  const isTerminal = stderr.isTTY === true;
  let isDrawn = false;
  const clear = (): void => {
    if (isDrawn) stderr.write(CLEARED_LINE);
    isDrawn = false;
  };
  const show = (): void => {
    const line = text();
    if (line === null) return;
    if (isTerminal) stderr.write(CLEARED_LINE + line);
    else printLine(stderr, line);
    isDrawn = isTerminal;
  };
  const timer = setInterval(show, isTerminal ? REDRAWN_EVERY_MS : LINE_EVERY_MS).unref(); // No reason to keep the process alive.
  const write: Output['write'] = (written, done) => {
    clear();
    return stderr.write(written, done);
  };
  return {
    /** Draws the line now, where it is drawn again and again. */
    draw: () => {
      if (isTerminal) show();
    },
    /** Removes the line of a terminal, and writes no further one. */
    stop: () => {
      clearInterval(timer);
      clear();
    },
    stderr: isTerminal ? { isTTY: true, write } : stderr,
  };
}
