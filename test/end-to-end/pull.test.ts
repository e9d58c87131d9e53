import { describe, expect, test } from 'vitest';
import type { Envelopes } from '../../src/sandbox/answer.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { json, kindIn, run, settingsFor } from '../support/command-line.ts';
import type { PullReport } from '../support/command-line.ts';
import { KIND_NAMES, ask, changedRows, dump, expectEqual, expectSound } from '../support/mirror-file.ts';
import { runProgram } from '../support/program.ts';
import { freshMirror } from '../support/temp-folder.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('pull', () => {
  test('mirrors every listed kind, record for record, and says so in the JSON of the contract', async () => {
    await using sandbox = await startSandbox({ size: 120 });
    const path = freshMirror();

    const ended = await runProgram(['pull', '--json'], { env: settingsFor(sandbox, path) });

    expect(ended).toMatchObject({ code: 0, stderr: '' });
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
          isFirst: false, // Certified, so that nothing is left for the next one to prove.
        };
      }),
      disappeared: [],
    });
    expect(sum(report, 'requests')).toBe(sandbox.requests.length);
  });

  test('writes no row of a kind table when nothing has changed', async () => {
    await using sandbox = await startSandbox({ size: 60 });
    const path = freshMirror();
    const env = settingsFor(sandbox, path);
    await run(['pull'], env);
    const before = dump(path);

    const ended = await runProgram(['pull', '--json'], { env });

    expect(ended.code).toBe(0);
    expect(dump(path)).toEqual(before);
    for (const report of json(ended).kinds) {
      const rows = sandbox.world.count(report.kind);
      expect(report).toMatchObject({ state: 'certified', rows, created: 0, updated: 0, unchanged: rows });
    }
  });

  test('changes exactly one row when one record has changed, whatever its kind; a new field of it gets its column', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const path = freshMirror();
    const env = settingsFor(sandbox, path);
    await run(['pull'], env);

    for (const kind of KIND_NAMES) {
      const before = dump(path);
      expect(before[kind]?.some((row) => 'a_new_field' in row)).toBe(false);
      const id = sandbox.world.ids(kind).at(-1) ?? 0;
      sandbox.world.update(kind, id, { a_new_field: 'changed' });

      const ended = await run(['pull', '--json'], env);

      const shown = `select id from bi_${kind} where a_new_field = 'changed'`;
      expect(ask(path, shown)).toEqual([{ id: BigInt(id) }]);
      const after = withoutNewField(dump(path), kind);
      const written = KIND_NAMES.flatMap((name) =>
        changedRows(name, before, after).map((row) => [name, row]),
      );
      expect(written).toEqual([[kind, String(id)]]);
      expect(kindIn(ended, kind)).toMatchObject({ created: 0, updated: 1 });
    }
    expectEqual(path, sandbox);
  });

  test('adds the record that is new, and leaves every other row alone', async () => {
    await using sandbox = await startSandbox({ size: 60 });
    const path = freshMirror();
    const env = settingsFor(sandbox, path);
    await run(['pull'], env);
    const before = dump(path);
    const { id } = sandbox.world.insert('clients', { code: 'AAA-FIRST', name: 'Nouveau client' });

    const ended = await runProgram(['pull', '--json'], { env });

    const after = dump(path);
    expect(KIND_NAMES.flatMap((name) => changedRows(name, before, after))).toEqual([String(id as number)]);
    expect(kindIn(ended, 'clients')).toMatchObject({
      created: 1,
      updated: 0,
      rows: sandbox.world.count('clients'),
    });
    expectEqual(path, sandbox);
  });

  test('reads the kinds that are named, and only those', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const path = freshMirror();

    const ended = await run(['pull', 'products', 'clients', '--json'], settingsFor(sandbox, path));

    expect(ended.code).toBe(0);
    expect(json(ended).kinds.map(({ kind }) => kind)).toEqual(['products', 'clients']);
    expect(new Set(sandbox.requests.map((request) => request.path))).toEqual(
      new Set(['/api/products', '/api/clients']),
    );
    const held = KIND_NAMES.filter((kind) => ask(path, `select 1 from ${kind} limit 1`).length > 0);
    expect(held).toEqual(['clients', 'products']);
  });

  test('reads a kind once that is named twice', async () => {
    await using sandbox = await startSandbox({ size: 30 });
    const env = settingsFor(sandbox, freshMirror());

    const ended = await run(['pull', 'departments', 'departments', '--json'], env);

    expect(json(ended).kinds.map(({ kind }) => kind)).toEqual(['departments']);
  });

  test('makes the same mirror of both ways to wrap an answer, documented and wild', async () => {
    const [documented, wild] = await Promise.all([contents('documented'), contents('wild')]);

    expect(wild).toEqual(documented);
  });

  test('shows a person a table of the kinds, and no progress where nobody watches', async () => {
    await using sandbox = await startSandbox({ size: 30 });

    const { code, stdout, stderr } = await runProgram(['pull'], { env: settingsFor(sandbox, freshMirror()) });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]?.split(/ +/)).toEqual([
      'kind',
      'state',
      'rows',
      'created',
      'updated',
      'deleted',
      'restored',
      'unchanged',
      'quarantined',
      'pages',
      'seconds',
    ]);
    expect(lines.slice(2, 2 + KIND_NAMES.length).map((line) => line.split(/ +/).slice(0, 4))).toEqual(
      KIND_NAMES.map((kind) => {
        const rows = String(sandbox.world.count(kind));
        return [kind, 'certified', rows, rows];
      }),
    );
    expect(stdout).toMatch(
      /\nRun 1 took \d+\.\d s\.\nAll kinds: all \d+ rows of their lists, and no others, are in the mirror\.\n$/,
    );
  });
});

/** A dump without the column that a new field of one kind has got. */
function withoutNewField(dumped: ReturnType<typeof dump>, kind: string): ReturnType<typeof dump> {
  const rows = dumped[kind] ?? [];
  return {
    ...dumped,
    [kind]: rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'a_new_field')),
    ),
  };
}

function sum({ kinds }: PullReport, count: 'requests'): number {
  return kinds.reduce((total, kind) => total + kind[count], 0);
}

/** What a mirror holds but for when and as which response it came. */
async function contents(envelopes: Envelopes): Promise<unknown> {
  await using sandbox = await startSandbox({ size: 60, envelopes });
  const path = freshMirror();
  expect(await run(['pull'], settingsFor(sandbox, path))).toMatchObject({ code: 0 });
  return Object.values(dump(path)).map((rows) =>
    rows.map(({ rowid, _first_seen_at, _changed_at, _response, _listed, ...row }) => {
      expect([rowid, _first_seen_at, _changed_at, _response, _listed]).not.toContain(null);
      return row;
    }),
  );
}
