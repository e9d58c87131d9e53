import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, json, run, settingsFor, type PullReport } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { runProgram } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('pull', () => {
  test('mirrors every listed kind, record for record, and says so in the JSON of the contract', async () => {
    await using sandbox = await startSandbox({ size: 120 });
    const path = freshMirror();

    const ended = await runProgram(['pull', '--json'], { env: settingsFor(sandbox, path) });

    expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
    expectEqual(path, sandbox);
    expectSound(path);
    const report = json(ended);
    expect(report).toEqual({
      runId: 1,
      startedAt: expect.stringMatching(INSTANT) as string,
      durationMs: expect.any(Number) as number,
      kinds: KIND_NAMES.map((kind) => {
        const rows = sandbox.world.count(kind);
        return {
          kind,
          state: 'certified',
          reason: null,
          detail: null,
          certifiedAt: expect.stringMatching(INSTANT) as string,
          pages: expect.any(Number) as number,
          rows,
          created: rows,
          updated: 0,
          deleted: 0,
          restored: 0,
          unchanged: 0,
          quarantined: 0,
          requests: expect.any(Number) as number,
          retries: 0,
          durationMs: expect.any(Number) as number,
          suppressed: 0,
          isFirst: false, // Certified, so that nothing is left for the next one to prove.
        };
      }),
      disappeared: [],
    });
    expect(sum(report, 'requests')).toBe(sandbox.requests.length);
  });

  test('reads the kinds that are named, and only those', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const path = await grownMirror();

    const ended = await run(['pull', 'products', 'clients', '--json'], settingsFor(sandbox, path));

    expect(ended.code).toBe(0);
    expect(json(ended).kinds.map(({ kind }) => kind)).toEqual(['products', 'clients']);
    expect(new Set(sandbox.requests.map((request) => request.path))).toEqual(
      new Set(['/api/products', '/api/clients']),
    );
    const held = KIND_NAMES.filter((kind) => ask(path, `select 1 from ${kind} limit 1`).length > 0);
    expect(held).toEqual(['clients', 'products']);
  });

  test('shows a person a table of the kinds, and no progress where nobody watches', async () => {
    await using sandbox = await startSandbox({ size: 30 });

    const { code, stdout, stderr } = await runProgram(['pull'], {
      env: settingsFor(sandbox, await grownMirror()),
    });

    expect({ code, stderr }).toEqual({ code: 0, stderr: ONLY_PROGRESS });
    const lines = stdout.split('\n');
    expect(lines[0]?.split(/ +/)).toEqual(
      // prettier-ignore
      [
        'kind', 'state', 'rows', 'created', 'updated', 'deleted', 'restored', 'unchanged', 'quarantined',
        'pages', 'seconds',
      ],
    );
    expect(lines.slice(2, 2 + KIND_NAMES.length).map((line) => line.split(/ +/).slice(0, 4))).toEqual(
      KIND_NAMES.map((kind) => {
        const rows = String(sandbox.world.count(kind));
        return [kind, 'certified', rows, rows];
      }),
    );
    expect(stdout).toMatch(
      /\nRun 1 took \d+\.\d s\.\nAll 10 kinds: all \d+ rows of their lists, and no others, are in the mirror\.\n$/,
    );
  });
});

function sum({ kinds }: PullReport, count: 'requests'): number {
  return kinds.reduce((total, kind) => total + kind[count], 0);
}
