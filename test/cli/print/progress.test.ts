import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createProgress } from '../../../src/cli/print/progress.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { settingsFor } from '../../support/command-line.ts';
import { migratedMirror } from '../../support/sqlite-templates.ts';

afterEach(() => {
  vi.useRealTimers();
});

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');

/** Draws as a terminal would: the screen's lines after all was written, as far as our own escapes go. */
function screenOf(written: string): string[] {
  const lines: string[] = [''];
  let [row, column] = [0, 0];
  const put = (text: string): void => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
  };
  for (const [token, code = ''] of written.matchAll(
    new RegExp(`${String.fromCharCode(27)}\\[([0-9;?]*[A-Za-z])|\\n|[^\\n${String.fromCharCode(27)}]+`, 'g'),
  )) {
    if (token === '\n') [row, column] = [row + 1, 0];
    else if (code.endsWith('A')) row -= Number(code.slice(0, -1));
    else if (code.endsWith('G')) column = Number(code.slice(0, -1)) - 1;
    else if (code === '2K') lines[row] = '';
    else if (code === '0K' || code === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    else if (code === '0J' || code === 'J')
      lines.splice(row, lines.length, (lines[row] ?? '').slice(0, column));
    else if (code === '') put(token);
    lines[row] ??= '';
  }
  return lines.filter((line) => line.trim() !== '');
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
    expect(screen.at(0)?.replace(ESCAPES, '')).toMatch(/^kind +state +rows/);
  },
);
