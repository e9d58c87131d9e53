import { MultiBar, Presets } from 'cli-progress';
import type { SingleBar } from 'cli-progress';
import type { Progress } from '../../app/pull.ts';
import type { Io } from './io.ts';
import { printLine } from './io.ts';

interface ProgressDisplay {
  readonly onProgress: (progress: Progress) => void;
  readonly stop: () => void;
}

const PAGES_A_LINE = 100;

/** Shows how far a pull is: bars on a terminal, a line now and then elsewhere; always on stderr. */
export function createProgress({ stderr }: Io): ProgressDisplay {
  return stderr.isTTY === true ? progressBars() : progressLines(stderr);
}

function progressBars(): ProgressDisplay {
  const bars = new MultiBar(
    { format: '{kind} {bar} {value}/{total} pages', hideCursor: true, clearOnComplete: true },
    Presets.shades_grey,
  );
  const byKind = new Map<string, SingleBar>();
  return {
    onProgress: ({ kind, pages, lastPage }) => {
      const bar = byKind.get(kind) ?? bars.create(lastPage ?? pages, 0, { kind: kind.padEnd(18) });
      byKind.set(kind, bar);
      bar.setTotal(Math.max(lastPage ?? 0, pages));
      bar.update(pages);
    },
    stop: () => {
      bars.stop();
    },
  };
}

function progressLines(stderr: Io['stderr']): ProgressDisplay {
  return {
    onProgress: ({ kind, pages, lastPage }) => {
      if (pages % PAGES_A_LINE === 0) printLine(stderr, `${kind}: ${pages} of ${lastPage ?? '?'} pages`);
    },
    stop: () => undefined,
  };
}
