import { expect, test } from 'vitest';
import { copiedMirror } from './mirror-file.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';
import { fillMirror, playScenario } from './scenario.ts';

const MOST_SEEDS = 400;

const open = copiedMirror(fillMirror);

const faults = PLANTED_FAULTS.map((fault) => [fault.name, fault] as const);

test.each(faults)('caught: %s', async (_name, { doubles, caughtAs }) => {
  let caught: string | undefined;
  for (let seed = 1; seed <= MOST_SEEDS && caught === undefined; seed++) {
    const { problems } = await playScenario(seed, { session: await open(), doubles });
    caught = problems.find((problem) => caughtAs.test(problem));
  }
  expect(caught).toMatch(caughtAs);
});
