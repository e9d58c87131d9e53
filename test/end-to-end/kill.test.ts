import { once } from 'node:events';
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { ONLY_PROGRESS, json, run, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES, ask, expectEqual, expectSound } from '../support/mirror-file.ts';
import { start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';
import { sized } from '../support/tiers.ts';
import { randomWholes } from '../support/random-numbers.ts';

const SEED = 20_260_301;
const KILLS = sized({ quick: 3, acceptance: 15, deep: 15 });
const KILLS_OF_NEW_FILES = sized({ quick: 1, acceptance: 3, deep: 3 });
const MOST_TURNS = 3000; // Some milliseconds of the event loop: as long as it takes to land a few pages.

const SERVICE = { size: 24, faults: [{ do: { clampPerPage: 10 } }] } as const; // Many pages, so many moments.

test('a pull that is killed while it makes its file heals with the next one (G12)', async () => {
  await using sandbox = await startSandbox(SERVICE);
  const random = randomWholes(SEED);

  for (let kill = 0; kill < KILLS_OF_NEW_FILES; kill++) {
    const path = freshMirror();
    const watcher = watch(dirname(path));
    const appeared = once(watcher, 'change');
    await pullAndKill(sandbox, path, { after: appeared, turns: random(MOST_TURNS) });
    watcher.close();

    expect(await run(['pull'], settingsFor(sandbox, path))).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
    expectSound(path);
    expectEqual(path, sandbox);
  }
});

test(`a pull of changes that is killed at ${KILLS} random moments leaves no half page, and the next one heals (A24, G01)`, async () => {
  await using sandbox = await startSandbox(SERVICE);
  const random = randomWholes(SEED + 1);
  const path = await grownMirror();
  await requestsOf(sandbox, path);
  const requests = await requestsOf(sandbox, path);
  let interrupted = 0;

  for (let kill = 0; kill < KILLS; kill++) {
    changeAll(sandbox, `change ${kill}`);
    const after = requestNumber(sandbox, 1 + random(requests));
    await pullAndKill(sandbox, path, { after, turns: random(MOST_TURNS) });
    interrupted += await expectHealing(sandbox, path);
  }

  expect(interrupted).toBeGreaterThanOrEqual(KILLS - 2);
});

/** Pulls to the end, and returns how many requests that took. */
async function requestsOf(sandbox: Sandbox, path: string): Promise<number> {
  const before = sandbox.requests.length;
  expect(await run(['pull'], settingsFor(sandbox, path))).toMatchObject({ code: 0 });
  return sandbox.requests.length - before;
}

interface Moment {
  readonly after: Promise<unknown>;
  /** How many turns of our event loop later. */
  readonly turns: number;
}

async function pullAndKill(sandbox: Sandbox, path: string, { after, turns }: Moment): Promise<void> {
  const { child, ended } = start(['pull'], { env: settingsFor(sandbox, path) });
  await Promise.race([after, ended]);
  for (let count = 0; count < turns && child.exitCode === null; count++) await turn();
  child.kill('SIGKILL');
  const { code, signal } = await ended;
  // The last moments may come after the end: then there was nothing to kill, and it must have gone well.
  expect(code === 0 || signal === 'SIGKILL').toBe(true);
}

/** Returns how many runs were cut short: one, or none where the kill came after the end of the pull. */
async function expectHealing(sandbox: Sandbox, path: string): Promise<number> {
  expectSound(path);
  const before = ask(path, 'select state from runs order by id').map(({ state }) => state);

  const ended = await run(['pull', '--json'], settingsFor(sandbox, path));

  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  for (const { kind, state } of json(ended).kinds) expect([kind, state]).toEqual([kind, 'certified']);
  expectSound(path);
  expectEqual(path, sandbox);
  const after = ask(path, 'select state, finished_at from runs order by id');
  expect(after.map(({ state }) => state)).toEqual([
    ...before.map((state) => (state === 'running' ? 'interrupted' : state)),
    'done',
  ]);
  expect(after.filter((row) => row['finished_at'] === null)).toEqual([]);
  return before.filter((state) => state === 'running').length;
}

function changeAll({ world }: Sandbox, text: string): void {
  for (const kind of KIND_NAMES) for (const id of world.ids(kind)) world.update(kind, id, { remark: text });
}
