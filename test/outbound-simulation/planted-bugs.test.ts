import { expect, test, vi } from 'vitest';
import { blankMirror } from '../simulation/blank-mirror.ts';
import { check } from './checkers/check.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';

const MOST_SEEDS = 2_000;

const planted = await vi.hoisted(async () => (await import('../support/planting.ts')).createPlanting());

vi.mock('../../src/diff/rule-out.ts', planted.withDoubles);
vi.mock('../../src/diff/written.ts', planted.withDoubles);
vi.mock('../../src/mirror/records/record-store.ts', planted.withDoubles);
vi.mock('../../src/mirror/outbox/outbox-queue.ts', planted.withDoubles);
vi.mock('../../src/mirror/outbox/outbox-store.ts', planted.withDoubles);
vi.mock('../../src/mirror/kinds/kind-standing.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/decide-settlement.ts', planted.withDoubles);
vi.mock('../../src/outbound/attempt/grade.ts', planted.withDoubles);
vi.mock('../../src/outbound/attempt/land-own.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/recover.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/create.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/newcomers.ts', planted.withDoubles);
vi.mock('../../src/source/write.ts', planted.withDoubles);

const blank = blankMirror();

const bugs = PLANTED_BUGS.map((bug) => [bug.id, bug.name, bug] as const);

test.each(bugs)('%s caught: %s', { timeout: 600_000 }, async (_id, _name, bug) => {
  planted.plant(bug.parts);
  const caught = await firstFinding(bug).finally(() => {
    planted.plant({});
  });
  const { seed, what } = caught ?? { seed: 0, what: `not within ${MOST_SEEDS} seeds` };
  process.stdout.write(`${bug.id.padEnd(6)} ${bug.name.padEnd(70)} seed ${seed}: ${what}\n`);
  expect(caught).not.toBeNull();
  expect(await findingIn(bug, seed), 'the same seed without the bug').toBeNull();
});

interface Caught {
  readonly seed: number;
  readonly what: string;
}

/** Plays schedule after schedule until one of the bug's checkers objects, or the code under test itself does. */
async function firstFinding(bug: PlantedBug): Promise<Caught | null> {
  for (let seed = 1; seed <= MOST_SEEDS; seed++) {
    const what = await findingIn(bug, seed);
    if (what !== null) return { seed, what };
  }
  return null;
}

async function findingIn({ fixed, caughtBy }: PlantedBug, seed: number): Promise<string | null> {
  const recording = await runSchedule(scheduleOf(seed, fixed), { session: await blank() }).catch(
    (error: unknown) => String(error).slice(0, 60),
  );
  if (typeof recording === 'string') return recording;
  const checkers = new Set(check(recording).map(({ checker }) => checker));
  return [...checkers].some((checker) => caughtBy.test(checker)) ? [...checkers].join(', ') : null;
}
