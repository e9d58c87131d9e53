import { systemClock } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { printLine } from './io.ts';
import type { Output } from './io.ts';

interface ExportProgress {
  readonly onRows: (rows: number) => void;
  /** Removes the line of a terminal. */
  readonly stop: () => void;
}

const [TERMINAL_MS, LINE_MS] = [250, 10_000];
const CLEARED_LINE = '\r\u{1b}[2K';

/** Shows on stderr how many rows are exported: a line that is drawn again on a terminal, a line every ten seconds elsewhere. */
export function createExportProgress(
  what: string,
  stderr: Output,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): ExportProgress {
  const isTerminal = stderr.isTTY === true;
  const startedMs = clock.monotonicMs();
  let [rows, toldMs, isDrawn] = [0, startedMs, false];
  const line = (nowMs: number): string => {
    const rate = Math.round((rows * 1000) / Math.max(1, nowMs - startedMs));
    return `${what}  ${rows.toLocaleString('en-US')} rows  ${rate.toLocaleString('en-US')} rows/s`;
  };
  return {
    onRows: (count) => {
      rows += count;
      const nowMs = clock.monotonicMs();
      if (nowMs - toldMs < (isTerminal ? TERMINAL_MS : LINE_MS)) return;
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
