import { Writable } from 'node:stream';
import { MultiBar } from 'cli-progress';
import { systemClock } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Progress } from '../../pull/run/parts.ts';
import { printLine } from './io.ts';
import type { Io, Output } from './io.ts';
import { notedProgress, progressLine } from './progress-line.ts';
import type { KindProgress } from './progress-line.ts';

interface ProgressDisplay {
  readonly onProgress: (progress: Progress) => void;
  readonly stop: () => void;
  /** Where logs go while the display is up: they never tear its lines. */
  readonly stderr: Output;
}

interface DisplayOptions {
  /** How many kinds the command reads; null = unknown. */
  readonly of?: number | null;
  readonly clock?: Pick<Clock, 'monotonicMs'>;
}

const LINE_EVERY_MS = 10_000;

/** Shows how far a reading is: a line a kind on a terminal, a line every ten seconds elsewhere; always on stderr. */
export function createProgress(
  { stderr }: Pick<Io, 'stderr'>,
  options: DisplayOptions = {},
): ProgressDisplay {
  const noted = noteKinds(options);
  return stderr.isTTY === true ? liveLines(stderr, noted) : linesNowAndThen(stderr, noted);
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

interface NotedKinds {
  readonly note: (progress: Progress) => void;
  readonly all: () => readonly KindProgress[];
  readonly lineOf: (kind: KindProgress) => string;
}

function noteKinds({ of = null, clock = systemClock }: DisplayOptions): NotedKinds {
  let kinds: readonly KindProgress[] = [];
  return {
    note: (progress) => {
      kinds = notedProgress(kinds, progress, clock.monotonicMs());
    },
    all: () => kinds,
    lineOf: (kind) => progressLine(kind, clock.monotonicMs(), of),
  };
}

/** Lines that are drawn again where they stand; cli-progress owns the cursor. */
function liveLines(stderr: Output, { note, all, lineOf }: NotedKinds): ProgressDisplay {
  const lines = new MultiBar({
    stream: terminalOn(stderr),
    format: (_options, _params, { kind }: { readonly kind: string }) => {
      const noted = all().find((each) => each.kind === kind);
      return noted === undefined ? kind : lineOf(noted);
    },
    ...{ hideCursor: true, clearOnComplete: true, forceRedraw: true },
  });
  const drawn = new Set<string>();
  return {
    onProgress: (progress) => {
      note(progress);
      if (drawn.has(progress.kind)) return; // The next drawing shows it.
      drawn.add(progress.kind);
      lines.create(1, 0, { kind: progress.kind });
    },
    stop: () => {
      if (drawn.size === 0) return;
      lines.update(); // Logs that wait for the next drawing.
      lines.stop();
      drawn.clear();
    },
    stderr: {
      isTTY: true,
      write: (text, done) => {
        if (drawn.size === 0) return stderr.write(text, done);
        lines.log(text);
        done?.();
        return true;
      },
    },
  };
}

/** cli-progress writes to a stream of Node. */
function terminalOn(output: Output): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      output.write(text);
      done();
    },
  });
  return Object.assign(stream, { isTTY: true });
}

function linesNowAndThen(stderr: Output, { note, all, lineOf }: NotedKinds): ProgressDisplay {
  const timer = setInterval(() => {
    const kind = all().at(-1);
    if (kind !== undefined) printLine(stderr, lineOf(kind));
  }, LINE_EVERY_MS).unref(); // No reason to keep the process alive.
  return {
    onProgress: note,
    stop: () => {
      clearInterval(timer);
    },
    stderr,
  };
}

interface ExportProgress {
  readonly onRows: (rows: number) => void;
  /** Removes the line of a terminal. */
  readonly stop: () => void;
}

const REDRAWN_EVERY_MS = 250;
const CLEARED_LINE = '\r\u{1b}[2K';

/** Shows on stderr how many rows are exported: a line that is drawn again on a terminal, a line every ten seconds elsewhere. */
export function createExportProgress(what: string, stderr: Output): ExportProgress {
  const isTerminal = stderr.isTTY === true;
  const startedMs = systemClock.monotonicMs();
  let [rows, toldMs, isDrawn] = [0, startedMs, false];
  const line = (nowMs: number): string => {
    const rate = Math.round((rows * 1000) / Math.max(1, nowMs - startedMs));
    return `${what}  ${rows.toLocaleString('en-US')} rows  ${rate.toLocaleString('en-US')} rows/s`;
  };
  return {
    onRows: (count) => {
      rows += count;
      const nowMs = systemClock.monotonicMs();
      if (nowMs - toldMs < (isTerminal ? REDRAWN_EVERY_MS : LINE_EVERY_MS)) return;
      toldMs = nowMs;
      if (isTerminal) stderr.write(CLEARED_LINE + line(nowMs));
      else printLine(stderr, line(nowMs));
      isDrawn = isTerminal;
    },
    stop: () => {
      if (isDrawn) stderr.write(CLEARED_LINE);
      isDrawn = false;
    },
  };
}
