import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createProgress } from '../../../src/cli/parts/progress.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { settingsFor } from '../../support/command-line.ts';
import { migratedMirror } from '../../support/sqlite-templates.ts';

afterEach(() => {
  vi.useRealTimers();
});

const ESCAPE = String.fromCharCode(27);
const TOKENS = new RegExp(`${ESCAPE}\\[([0-9;?]*)([A-Za-z])|\\n|[^\\n${ESCAPE}]+`, 'g');

interface Screen {
  readonly lines: string[];
  row: number;
  column: number;
}

/** What the escape codes that cli-progress writes do to a screen. */
const CODES: Readonly<Record<string, (screen: Screen, n: string) => void>> = {
  A: (screen, n) => {
    screen.row -= Number(n);
  },
  G: (screen, n) => {
    screen.column = Number(n) - 1;
  },
  K: ({ lines, row, column }, n) => {
    lines[row] = n === '2' ? '' : (lines[row] ?? '').slice(0, column);
  },
  J: ({ lines, row, column }) => {
    lines.splice(row, lines.length, (lines[row] ?? '').slice(0, column));
  },
};

function put(screen: Screen, text: string): void {
  const { lines, row, column } = screen;
  const line = (lines[row] ?? '').padEnd(column);
  lines[row] = line.slice(0, column) + text + line.slice(column + text.length);
  screen.column += text.length;
}

/** The lines of a terminal on which this was written. */
function screenOf(written: string): string[] {
  const screen: Screen = { lines: [''], row: 0, column: 0 };
  for (const [token, n = '', letter] of written.matchAll(TOKENS)) {
    if (letter !== undefined) CODES[letter]?.(screen, n);
    else if (token === '\n') [screen.row, screen.column] = [screen.row + 1, 0];
    else put(screen, token);
    screen.lines[screen.row] ??= '';
  }
  return screen.lines.filter((line) => line.trim() !== '');
}

function terminal() {
  const written: string[] = [];
  return { written, stderr: { isTTY: true, write: (text: string) => written.push(text) } };
}

test('on a terminal logs stand above the lines of the kinds, and none is torn', () => {
  vi.useFakeTimers();
  const { written, stderr } = terminal();
  const clock = { monotonicMs: () => Date.now() };
  const progress = createProgress({ stderr }, { of: 2, clock });
  progress.onProgress({ kind: 'clients', pages: 1, lastPage: 3, rows: 100 });
  vi.advanceTimersByTime(500);
  progress.stderr.write('{"msg":"first"}\n');
  vi.advanceTimersByTime(500);
  progress.onProgress({ kind: 'products', pages: 1, lastPage: 3, rows: 100 });
  vi.advanceTimersByTime(500);
  progress.stderr.write('{"msg":"second"}\n');
  vi.advanceTimersByTime(500);

  expect(screenOf(written.join(''))).toEqual([
    '{"msg":"first"}',
    '{"msg":"second"}',
    expect.stringMatching(/^clients \(1 of 2\) {2}100 rows/) as string,
    expect.stringMatching(/^products \(2 of 2\) {2}100 rows/) as string,
  ]);

  progress.stderr.write('{"msg":"last"}\n');
  progress.stop();
  expect(screenOf(written.join(''))).toEqual(['{"msg":"first"}', '{"msg":"second"}', '{"msg":"last"}']);
});

test('off a terminal there is a line every ten seconds', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const stderr = { write: (text: string) => lines.push(text) };
  const progress = createProgress({ stderr }, { of: 3, clock: { monotonicMs: () => Date.now() } });
  progress.onProgress({ kind: 'clients', pages: 0, lastPage: null, rows: 0 });
  for (let second = 0; second < 9; second++) vi.advanceTimersByTime(1_000);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(3_000);
  expect(lines).toEqual(['clients (1 of 3)  0 rows  waiting for the service, 10 s\n']);
  progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
});

test.skipIf(process.platform !== 'linux')(
  'a pull on a pseudo-terminal shows its lines, and leaves only its report',
  async () => {
    const sandbox = await startSandbox({ size: 400, faults: [{ do: { latencyMs: 30 } }] });
    onTestFinished(() => sandbox.close());
    const env = { ...process.env, ...settingsFor(sandbox, await migratedMirror()), TERM: 'xterm' };
    const command = `${process.execPath} --import tsx src/main.ts pull clients projects`;

    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { env });

    expect(stdout).toMatch(/clients \(1 of 2\) {2}[\d,]+ rows/);
    expect(stdout).toMatch(/projects \(2 of 2\)/);
    const screen = screenOf(stdout.replaceAll('\r', ''));
    expect(screen.at(0)).toMatch(/^kind +state +rows/);
  },
);
