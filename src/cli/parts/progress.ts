import { systemClock } from '../../lib/time/clock.ts';
import type { Progress } from '../../pull/run/parts.ts';
import { printLine } from './io.ts';
import type { Io, Output } from './io.ts';

interface ProgressDisplay {
  readonly onProgress: (progress: Progress) => void;
  readonly stop: () => void;
  /** Where logs go while the display is up: they never tear its line. */
  readonly stderr: Output;
}

interface DisplayOptions {
  /** How many kinds the command reads; absent = unknown. */
  readonly of?: number;
}

/** Shows on stderr how far a reading is. */
export function createProgress({ stderr }: Pick<Io, 'stderr'>, { of }: DisplayOptions = {}): ProgressDisplay {
  const kinds: string[] = [];
  let latest: Progress | null = null;
  const line = createLine(stderr, () => {
    if (latest === null) return null;
    const place = of === undefined || of === 1 ? '' : ` (${kinds.indexOf(latest.kind) + 1} of ${of})`;
    return [`${latest.kind}${place}`, ...countsOf(latest)].join('  ');
  });
  return {
    onProgress: (progress) => {
      latest = progress;
      if (kinds.includes(progress.kind)) return;
      kinds.push(progress.kind);
      line.draw();
    },
    stop: line.stop,
    stderr: line.stderr,
  };
}

function countsOf({ rows, pages, lastPage }: Progress): string[] {
  const page = lastPage === null ? `page ${pages}` : `page ${pages} of ${Math.max(pages, lastPage)}`;
  return [
    ...(rows === undefined ? [] : [`${rows.toLocaleString('en-US')} rows`]),
    ...(pages > 0 ? [page] : []),
  ];
}

/** Runs a reading with its progress shown; the display is gone before the report is printed. */
export async function showingProgress<T>(
  io: Pick<Io, 'stderr'>,
  options: DisplayOptions,
  read: (display: Omit<ProgressDisplay, 'stop'>) => Promise<T>,
): Promise<T> {
  const display = createProgress(io, options);
  try {
    return await read(display);
  } finally {
    display.stop();
  }
}

interface ExportProgress {
  readonly onRows: (rows: number) => void;
  readonly stop: () => void;
}

/** Shows on stderr how many rows are exported. */
export function createExportProgress(what: string, stderr: Output): ExportProgress {
  const startedMs = systemClock.monotonicMs();
  let rows = 0;
  const line = createLine(stderr, () => {
    const rate = Math.round((rows * 1000) / Math.max(1, systemClock.monotonicMs() - startedMs));
    return `${what}  ${rows.toLocaleString('en-US')} rows  ${rate.toLocaleString('en-US')} rows/s`;
  });
  return {
    onRows: (count) => {
      rows += count;
    },
    stop: line.stop,
  };
}

const REDRAWN_EVERY_MS = 250;
const LINE_EVERY_MS = 10_000;
const CLEARED_LINE = '\r\u{1b}[2K';

interface ProgressLine {
  /** Draws the line now, where it is drawn again and again. */
  readonly draw: () => void;
  /** Removes the line of a terminal, and writes no further one. */
  readonly stop: () => void;
  readonly stderr: Output;
}

/** A line that is drawn again where it stands on a terminal, and a line every ten seconds elsewhere. @param text null = none yet. */
function createLine(stderr: Output, text: () => string | null): ProgressLine {
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
    draw: () => {
      if (isTerminal) show();
    },
    stop: () => {
      clearInterval(timer);
      clear();
    },
    stderr: isTerminal ? { isTTY: true, write } : stderr,
  };
}
