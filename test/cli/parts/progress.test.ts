import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createProgress } from '../../../src/cli/parts/progress.ts';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { settingsFor } from '../../support/command-line.ts';
import { MAIN } from '../../support/program.ts';
import { grownMirror } from '../../support/sqlite-templates.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** The lines of a terminal on which this was written: each clearing begins the present line again. */
const screenOf = (written: string): string[] =>
  written.split('\n').map((line) => line.split('\r\u{1b}[2K').at(-1) ?? '');

test('on a terminal logs stand above the line of the kind, and neither tears the other', () => {
  vi.useFakeTimers();
  let written = '';
  const stderr = { isTTY: true, write: (text: string) => (written += text) };
  const progress = createProgress(stderr, { of: 2 });
  progress.onProgress({ kind: 'clients', pages: 1, lastPage: 3, rows: 1_200 });
  expect(screenOf(written)).toEqual(['clients (1 of 2)  1,200 rows  page 1 of 3']);
  progress.stderr.write('{"msg":"first"}\n');
  progress.onProgress({ kind: 'products', pages: 0, lastPage: null, rows: 0, others: 1 });
  vi.advanceTimersByTime(500);
  expect(screenOf(written)).toEqual(['{"msg":"first"}', 'products (2 of 2)  0 rows  and 1 more']);
  progress.stop();
  vi.advanceTimersByTime(500);
  expect(screenOf(written)).toEqual(['{"msg":"first"}', '']);
});

test('off a terminal there is a line every ten seconds', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const progress = createProgress({ write: (text: string) => lines.push(text) }, { of: 3 });
  progress.onProgress({ kind: 'clients', pages: 12, lastPage: null });
  vi.advanceTimersByTime(9_000);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(lines).toEqual(['clients (1 of 3)  page 12\n']);
  progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
});

test.skipIf(process.platform !== 'linux')(
  'a pull on a pseudo-terminal shows its lines, and leaves only its report',
  async () => {
    const sandbox = await startSandbox({ size: 400, faults: [{ do: { latencyMs: 30 } }] });
    onTestFinished(() => sandbox.close());
    const env = { ...process.env, ...settingsFor(sandbox, await grownMirror()), TERM: 'xterm' };
    const command = `${process.execPath} ${MAIN} pull clients projects`;
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { env });
    expect(stdout).toMatch(/clients \(1 of 2\) {2}[\d,]+ rows/);
    expect(stdout).toMatch(/projects \(2 of 2\)/);
    const [first] = screenOf(stdout.replaceAll('\r\n', '\n'));
    expect(first).toMatch(/^kind +state +rows/);
  },
);
