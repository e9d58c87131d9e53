import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { playHistory } from './history.ts';
import { check } from './invariants.ts';
import { mayBreak } from './limits.ts';
import { openMirror, type Mirror } from './mirrors.ts';
import { drawPersonality, lastingTraits, peculiarities } from './traits.ts';
import { LASTING_BUGS } from './lasting-bugs.ts';
import { MORE_PLANTED_BUGS } from './more-planted-bugs.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import FOUND_AT from './found-at.json' with { type: 'json' };

/** Where the bug is not found at the seed at which it last was, all seeds are drawn from the first on. */
const MOST_DRAWS = 1_000;

const foundAt: Record<string, number> = { ...FOUND_AT };

const planted = await vi.hoisted(async () => (await import('../support/planting.ts')).createPlanting());

vi.mock('../../src/catalog/exclude.ts', planted.withDoubles);
vi.mock('../../src/diff/certify.ts', planted.withDoubles);
vi.mock('../../src/diff/decode-record.ts', planted.withDoubles);
vi.mock('../../src/diff/compare-page.ts', planted.withDoubles);
vi.mock('../../src/diff/identity-differences.ts', planted.withDoubles);
vi.mock('../../src/diff/match.ts', planted.withDoubles);
vi.mock('../../src/diff/shown-value.ts', planted.withDoubles);
vi.mock('../../src/diff/decide-deletions.ts', planted.withDoubles);
vi.mock('../../src/diff/doubts.ts', planted.withDoubles);
vi.mock('../../src/diff/rule-out.ts', planted.withDoubles);
vi.mock('../../src/diff/merge-update.ts', planted.withDoubles);
vi.mock('../../src/diff/normalize-spelling.ts', planted.withDoubles);
vi.mock('../../src/store/kinds/kind-lease.ts', planted.withDoubles);
vi.mock('../../src/pull/token-holders.ts', planted.withDoubles);
vi.mock('../../src/store/outbox/attempts-and-links.ts', planted.withDoubles);
vi.mock('../../src/store/outbox/outbox-queue.ts', planted.withDoubles);
vi.mock('../../src/store/records/change-store.ts', planted.withDoubles);
vi.mock('../../src/store/records/record-store.ts', planted.withDoubles);
vi.mock('../../src/store/runs/volatile-fields.ts', planted.withDoubles);
vi.mock('../../src/events/follow-changes.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/end-entry.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/grade.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/land-own-write.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/other-record.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/base.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/decide-settlement.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/possible-matches.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/read-remote.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/recover.ts', planted.withDoubles);
vi.mock('../../src/outbound/send/update.ts', planted.withDoubles);
vi.mock('../../src/outbound/last-break.ts', planted.withDoubles);
vi.mock('../../src/outbound/stopwatch.ts', planted.withDoubles);
vi.mock('../../src/pull/deletions/absence-evidence.ts', planted.withDoubles);
vi.mock('../../src/pull/deletions/conclude-absences.ts', planted.withDoubles);
vi.mock('../../src/pull/deletions/oldest-rows.ts', planted.withDoubles);
vi.mock('../../src/pull/reading.ts', planted.withDoubles);
vi.mock('../../src/pull/sweep/page-size.ts', planted.withDoubles);
vi.mock('../../src/source/http/write-answer.ts', planted.withDoubles);
vi.mock('../../src/source/paging/list-page.ts', planted.withDoubles);
vi.mock('../../src/source/paging/page-checks.ts', planted.withDoubles);
vi.mock('../../src/source/write.ts', planted.withDoubles);

const usual = [...PLANTED_BUGS, ...MORE_PLANTED_BUGS].map((bug) => ({
  trait: '',
  also: '',
  ...bug,
  isLasting: false,
}));
const lasting = LASTING_BUGS.map((bug) => ({ also: '', ...bug, isLasting: true }));
const bugs = [...usual, ...lasting].map((bug) => [bug.name, bug] as const);

test.each(bugs)('caught: %s', { timeout: 900_000 }, async (name, bug) => {
  await using mirror = await openMirror(null);
  const known = (FOUND_AT as Readonly<Record<string, number>>)[name];
  const caught = await firstFinding(mirror, bug, known);
  if (caught !== null) foundAt[name] = caught.seed;
  const { seed, what } = caught ?? { seed: 0, what: `not within ${MOST_DRAWS} draws` };
  process.stdout.write(`| ${name} | ${seed} | ${what} |\n`);
  expect(caught).not.toBeNull();
});

/** Writes the seeds down where that is asked for: `BMS_WORLD_REFRESH=1`; of one bug alone with `-t`. */
afterAll(() => {
  if (process.env['BMS_WORLD_REFRESH'] === undefined) return;
  writeFileSync(join(import.meta.dirname, 'found-at.json'), `${JSON.stringify(foundAt, null, 2)}\n`);
});

interface Caught {
  readonly seed: number;
  readonly what: string;
}

/**
 * Plays history after history until an invariant breaks, or the code under test itself objects, because of the bug alone: without
 * it, the same history breaks nothing.
 */
async function firstFinding(
  mirror: Mirror,
  { parts, trait, also, isLasting }: (typeof bugs)[number][1],
  known: number | undefined,
): Promise<Caught | null> {
  const drawn = seedsWith([trait, also], isLasting);
  for (const seed of known === undefined ? drawn : [known, ...drawn]) {
    planted.plant(parts);
    const what = await findingIn(mirror, seed).finally(() => {
      planted.plant({});
    });
    if (what !== null && (await findingIn(mirror, seed)) === null) return { seed, what };
  }
  return null;
}

/** The first seeds whose histories have these traits; only those in which nothing outlasts patience are short. */
function seedsWith(traits: readonly string[], isLasting: boolean): readonly number[] {
  const seeds: number[] = [];
  for (let seed = 1; seeds.length < MOST_DRAWS; seed++) {
    const personality = drawPersonality(seed);
    const shown = ['', ...peculiarities(personality)];
    const hasTraits = traits.every((trait) => shown.some((one) => one.startsWith(trait)));
    if (hasTraits && (isLasting || lastingTraits(personality).length === 0)) seeds.push(seed);
  }
  return seeds;
}

async function findingIn(mirror: Mirror, seed: number): Promise<string | null> {
  try {
    const recording = await playHistory(seed, { session: await mirror.blank(), tables: mirror.tables });
    const faults = check(recording).filter((finding) => !mayBreak(recording, finding));
    return faults.length === 0 ? null : [...new Set(faults.map(({ invariant }) => invariant))].join(', ');
  } catch (error) {
    return String(error).slice(0, 80);
  }
}
