import { expect, test } from 'vitest';
import { run, settingsFor } from '../support/command-line.ts';
import { start, type Program } from '../support/program.ts';
import { freshMirror } from '../support/temp-folder.ts';
import { sized } from '../support/tiers.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { serving } from './outbound-scene.ts';

const ROUNDS = sized({ quick: 2, acceptance: 3, deep: 10 });
/** More than five would take both cores from the tests beside it for too long. */
const RACERS = sized({ quick: 3, acceptance: 5, deep: 5 });

/** Starts them all at once; resolves once each serves or has ended. */
async function race(env: Readonly<Record<string, string>>): Promise<readonly Program[]> {
  const racers = Array.from({ length: RACERS }, () => start(['serve', '--only', 'pulls'], { env }));
  await Promise.all(racers.map(serving));
  return racers;
}

test(`of ${ROUNDS * RACERS} starts on one SQLite file, ${RACERS} at once, one serves each time, and the killed one's place is free`, async ({
  onTestFinished,
}) => {
  await using sandbox = await startSandbox({ size: 5 });
  const env = { ...settingsFor(sandbox, freshMirror()), BMS__SCHEDULES__ALL: 'null' };
  await run(['migrate'], env);
  for (let round = 0; round < ROUNDS; round++) {
    const racers = await race(env);
    onTestFinished(() => {
      for (const { child } of racers) child.kill('SIGKILL');
    });
    const alive = racers.filter(({ child }) => child.exitCode === null);
    expect(alive).toHaveLength(1);
    for (const { child, ended } of racers.filter((racer) => !alive.includes(racer))) {
      expect(child.exitCode).toBe(1);
      expect((await ended).stderr).toContain('already served');
    }
    alive[0]?.child.kill('SIGKILL'); // Nothing of it is left but its row.
    await alive[0]?.ended;
  }
});
