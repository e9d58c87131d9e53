import { expect, test, vi } from 'vitest';
import { blankMirror } from './blank-mirror.ts';
import { check } from './checkers/check.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { Plantable, PlantedBug, Planted } from './planted-bugs.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';

const MOST_SEEDS = 500;

/** The bug that is planted at this moment; a part is asked for its double each time it is called. */
const planted = vi.hoisted(() => {
  const now: { parts: Partial<Record<string, (real: unknown) => unknown>> } = { parts: {} };
  const withDoubles = async (
    load: () => Promise<Record<string, unknown>>,
  ): Promise<Record<string, unknown>> => {
    const real = await load();
    const parts = Object.entries(real).map(([name, part]) => {
      if (typeof part !== 'function') return [name, part];
      const call = (...given: unknown[]): unknown => {
        const double = now.parts[name];
        return ((double ? double(part) : part) as (...all: unknown[]) => unknown)(...given);
      };
      return [name, call];
    });
    return Object.fromEntries(parts) as Record<string, unknown>;
  };
  return { now, withDoubles };
});

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
  plant(bug.parts ?? {});
  const caught = await firstViolation(bug).finally(() => {
    plant({});
  });
  process.stdout.write(`${bug.id.padEnd(10)} ${bug.name.padEnd(66)} ${caught}\n`);
  expect(caught).toMatch(/^seed \d+: /);
});

function plant(parts: Planted): void {
  planted.now.parts = parts as Partial<Record<keyof Plantable, (real: unknown) => unknown>>;
}

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
