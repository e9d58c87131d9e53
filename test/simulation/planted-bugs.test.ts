import { expect, test, vi } from 'vitest';
import { blankMirror } from './blank-mirror.ts';
import { check } from './checkers/check.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';

const MOST_SEEDS = 500;

const planted = await vi.hoisted(async () => (await import('../support/planting.ts')).createPlanting());

vi.mock('../../src/lib/time/clock.ts', planted.withDoubles);
vi.mock('../../src/diff/certify.ts', planted.withDoubles);
vi.mock('../../src/diff/judge-page.ts', planted.withDoubles);
vi.mock('../../src/diff/plan-deletions.ts', planted.withDoubles);
vi.mock('../../src/mirror/kinds/kind-lease.ts', planted.withDoubles);
vi.mock('../../src/pull/deletions/absence-evidence.ts', planted.withDoubles);
vi.mock('../../src/pull/run/sweep.ts', planted.withDoubles);
vi.mock('../../src/source/paging/page-checks.ts', planted.withDoubles);
vi.mock('../../src/source/http/read-answer.ts', planted.withDoubles);
vi.mock('../../src/source/paging/sweep-plan.ts', planted.withDoubles);

const blank = blankMirror();

const bugs = PLANTED_BUGS.map((bug) => [bug.id, bug.name, bug] as const);

test.each(bugs)('%s caught: %s', { timeout: 120_000 }, async (_id, _name, bug) => {
  planted.plant(bug.parts ?? {});
  const caught = await firstViolation(bug).finally(() => {
    planted.plant({});
  });
  process.stdout.write(`${bug.id.padEnd(10)} ${bug.name.padEnd(66)} ${caught}\n`);
  expect(caught).toMatch(/^seed \d+: /);
});

/** Plays schedule after schedule until the checkers object, or the code under test itself does. */
async function firstViolation({ doubles, fixed }: PlantedBug): Promise<string> {
  for (let seed = 1; seed <= MOST_SEEDS; seed++) {
    const session = await blank();
    const recording = await runSchedule(scheduleOf(seed, fixed), {
      session,
      ...(doubles && { doubles: doubles() }),
    });
    const checkers = new Set(check(recording).map(({ checker }) => checker));
    if (checkers.size > 0) return `seed ${seed}: ${[...checkers].join(', ')}`;
  }
  return `not within ${MOST_SEEDS} seeds`;
}
