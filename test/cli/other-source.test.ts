import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { document, kindIn, run, settingsFor, type Env } from '../support/command-line.ts';
import { KIND_NAMES, ask, dump, expectEqual, expectSound } from '../support/mirror-file.ts';
import { copyGrownMirror, grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';

interface Foreign {
  readonly theirs: Sandbox;
  /** The mirror of company 7, as its first pull left it. */
  readonly bytes: Buffer;
}

/** A mirror of company 7, and then company 8 at the same address, as another token would show it. */
async function meetAnotherCompany(size: number): Promise<Foreign> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-'));
  const path = join(folder, 'mirror.db');
  await copyGrownMirror(path);
  const ours = await startSandbox({ size });
  expect(await run(['pull'], settingsFor(ours, path))).toMatchObject({ code: 0 });
  await ours.close();
  const theirs = await startSandbox({ size, systemId: 8, seed: 2, port: Number(new URL(ours.url).port) });
  expect(theirs.url).toBe(ours.url);
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return { theirs, bytes };
}

describe("a mirror never takes another source's data unasked", () => {
  let foreign: Foreign;
  beforeAll(async () => {
    foreign = await meetAnotherCompany(60);
  });
  afterAll(() => foreign.theirs.close());

  /** A mirror of its own for each test; none of them changes the service. */
  function mirrorOfAnotherCompany(): { readonly path: string; readonly env: Env } {
    const path = freshMirror();
    writeFileSync(path, foreign.bytes);
    return { path, env: settingsFor(foreign.theirs, path) };
  }

  test("another company's token fails the pull with 1 before a row has changed (A21)", async () => {
    const { path, env } = mirrorOfAnotherCompany();
    const before = dump(path);

    const ended = await run(['pull', '--json'], env);

    expect(ended.code).toBe(1);
    expect(document(ended)).toMatchObject({ error: { code: 'mirror.other_source' } });
    expect(ended.stderr).toContain('reads company 8 (system_id), and this mirror holds company 7');
    expect(ended.stderr).toContain('--new-source');
    expect(dump(path)).toEqual(before);
    expectSound(path);
    expect(ask(path, 'select state, reason from runs where id = 2')).toEqual([
      { state: 'failed', reason: expect.stringContaining('company 8') as string },
    ]);
  });

  test('the same address written in another way is the same source', async () => {
    const path = await grownMirror();
    await using sandbox = await startSandbox({ size: 10 });
    const env = settingsFor(sandbox, path);
    await run(['pull', 'departments'], env);

    const ended = await run(['pull', 'departments'], {
      ...env,
      BMS_BASE_URL: `${sandbox.url.replace('http', 'HTTP')}//`,
    });

    expect(ended).toMatchObject({ code: 0 });
  });

  test('a kind that names another company than before fails alone: 3, and doctor says the same and writes nothing', async () => {
    const path = await grownMirror();
    const before = await startSandbox({ size: 60, companies: { departments: 99217 } });
    const env = settingsFor(before, path);
    expect(await run(['pull'], env)).toMatchObject({ code: 0 });
    await before.close();
    const port = Number(new URL(before.url).port);
    await using after = await startSandbox({ size: 60, companies: { departments: 5 }, port });
    const rows = [dump(path), ask(path, 'select * from runs'), ask(path, 'select * from kind_state')];

    const examined = await run(['doctor', '--json'], env);
    expect(examined.code).toBe(1);
    const { checks } = document(examined) as { checks: readonly { name: string; ok: boolean }[] };
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      expect.objectContaining({
        name: 'tenant.departments',
        code: 'mirror.other_source',
        detail: expect.stringMatching(/company 5 .*company 99217/) as string,
        hint: expect.stringContaining('--new-source') as string,
      }),
    ]);
    expect([dump(path), ask(path, 'select * from runs'), ask(path, 'select * from kind_state')]).toEqual(
      rows,
    );

    const ended = await run(['pull', '--json'], env);
    expect(ended.code).toBe(3);
    for (const kind of KIND_NAMES)
      expect(kindIn(ended, kind).state, kind).toBe(kind === 'departments' ? 'invalid' : 'certified');
    expect(kindIn(ended, 'departments')).toMatchObject({
      reason: 'other_source',
      detail: expect.stringMatching(/company 5 .*company 99217.*--new-source/) as string,
    });
    const verified = await run(['verify', 'departments', 'categories', '--json'], env);
    expect(verified.code).toBe(3);
    expect(document(verified)).toMatchObject({
      kinds: [
        { kind: 'departments', reason: 'other_source' },
        { kind: 'categories', reason: null },
      ],
    });

    expect(await run(['pull', 'departments', '--new-source'], env)).toMatchObject({ code: 0 });
    expect(await run(['doctor'], env)).toMatchObject({ code: 0 });
    expectEqual(path, after);
  });
});
