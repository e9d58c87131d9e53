import { expect, test, vi } from 'vitest';
import { playHistory } from './history.ts';
import { check } from './invariants.ts';
import { LIES, type LieName } from './lies.ts';
import { openMirror, type Mirror } from './mirrors.ts';
import { drawPersonality } from './traits.ts';
import type { decideDeletions } from '../../src/diff/decide-deletions.ts';
import type { retrieveAbsent } from '../../src/pull/deletions/absence-evidence.ts';
import type { recordReader } from '../../src/source/http/read-answer.ts';
import type { nextStep } from '../../src/source/paging/page-walk.ts';

const planted = await vi.hoisted(async () => (await import('../support/planting.ts')).createPlanting());

vi.mock('../../src/diff/decide-deletions.ts', planted.withDoubles);
vi.mock('../../src/pull/deletions/absence-evidence.ts', planted.withDoubles);
vi.mock('../../src/source/http/read-answer.ts', planted.withDoubles);
vi.mock('../../src/source/paging/page-walk.ts', planted.withDoubles);

const HISTORIES = process.env['BMS_TEST_DEEP'] === undefined ? 15 : 1_000;
/** Records of the one can be asked for one by one, those of the other cannot. */
const KINDS = ['clients', 'punches'] as const;
/** A list that says the same again and again is believed where nothing else can be asked. */
const ONLY_ASKED: readonly LieName[] = [
  'the last rows are missing, and a web page answers for them',
  'the last page is page 1',
];
/** What must hold whatever a service says; lists that lie are not lists to certify. */
const HELD = ['falsely deleted', 'unequal', 'broken chain', 'doubled', 'lost'];

/** What a history with a lie breaks; empty = nothing. */
async function findingsOf(mirror: Mirror, seed: number, lie: LieName): Promise<readonly string[]> {
  const { pageSize } = drawPersonality(seed);
  const recording = await playHistory(seed, {
    session: await mirror.blank(),
    tables: mirror.tables,
    personality: { pageSize: pageSize === '100 rows' ? '5 rows' : pageSize },
    kind: ONLY_ASKED.includes(lie) ? 'clients' : (KINDS[seed % KINDS.length] ?? 'clients'),
    lie,
  });
  return check(recording)
    .filter(({ invariant }) => HELD.includes(invariant))
    .map(({ invariant, detail }) => `seed ${seed}: ${invariant}: ${detail}`);
}

test.each(Object.keys(LIES) as LieName[])(
  'a service of which it is true that %s: nothing is deleted that is there, and all is well once it tells the truth',
  async (lie) => {
    await using mirror = await openMirror(null);
    for (let seed = 1; seed <= HISTORIES; seed++) expect(await findingsOf(mirror, seed, lie)).toEqual([]);
  },
);

interface Plantable {
  decideDeletions: typeof decideDeletions;
  retrieveAbsent: typeof retrieveAbsent;
  recordReader: typeof recordReader;
  nextStep: typeof nextStep;
}

interface PlantedBug {
  readonly name: string;
  readonly lie: LieName;
  readonly parts: { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };
}

const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a short page ends the list',
    lie: 'rows are filtered out after pages were cut',
    parts: {
      nextStep: (real) => (walk, response) => {
        const next = real(walk, response);
        const { phase } = walk.step;
        const isShort = response.keys.length > 0 && response.keys.length < next.rowsPerPage;
        if (!isShort || (phase !== 'body' && phase !== 'walk')) return next;
        const rows = (response.page - 1) * next.rowsPerPage + response.keys.length;
        return { ...next, step: { phase: 'done', ask: null }, end: { rows } };
      },
      // No hold for its size or its age saves the rows.
      decideDeletions: (real) => (facts, rules) => real({ ...facts, live: 1e9, oldest: null }, rules),
    },
  },
  {
    name: 'an emptied list is believed',
    lie: 'lists are empty now and then',
    parts: {
      decideDeletions: (real) => (facts, rules) =>
        real({ ...facts, doubt: null }, { ...rules, holdAbove: { rows: 1e9, share: 1 } }),
    },
  },
  {
    name: 'what is gone from one certified list is deleted at once',
    lie: 'rows are missing for some minutes',
    parts: {
      decideDeletions: (real) => (facts, rules) => ({
        ...real(facts, rules),
        toRetrieve: [],
        tombstones: facts.absent.map(({ id }) => id),
      }),
    },
  },
  {
    name: 'what two complete sweeps did not show is deleted without asking',
    lie: 'rows are filtered out after pages were cut',
    parts: {
      decideDeletions: (real) => (facts, rules) =>
        facts.isCertified
          ? real(facts, rules)
          : { ...real(facts, rules), toRetrieve: [], tombstones: facts.absent.map(({ id }) => id) },
    },
  },
  {
    name: 'a web page with status 404 says that a record is gone',
    lie: 'the last rows are missing, and a web page answers for them',
    parts: { recordReader: (real) => (id) => (answer) => (answer.status === 404 ? null : real(id)(answer)) },
  },
  {
    name: 'a record that answers is deleted all the same',
    lie: 'the last rows are missing, and a web page answers for them',
    parts: {
      retrieveAbsent:
        () =>
        (_parts, { ids }) =>
          Promise.resolve(new Map(ids.map((id) => [id, 'gone']))),
    },
  },
  {
    name: 'nobody asks whether single records are found at all',
    lie: 'the last rows are missing, and no record is ever found',
    parts: {
      retrieveAbsent: (real) => (parts, asked) =>
        real(
          {
            ...parts,
            source: {
              ...parts.source,
              retrieve: (kind, id, options) =>
                id === asked.control
                  ? Promise.resolve({ record: { id }, sent: 0, answered: 0 })
                  : parts.source.retrieve(kind, id, options),
            },
          },
          asked,
        ),
    },
  },
];

const MOST_DRAWS = 300;

test.each(PLANTED_BUGS)('caught: $name', async ({ lie, parts }) => {
  await using mirror = await openMirror(null);
  planted.plant(parts);
  let found: readonly string[] = [];
  for (let seed = 1; seed <= MOST_DRAWS && found.length === 0; seed++)
    found = await findingsOf(mirror, seed, lie);
  planted.plant({});
  expect(found.join()).toContain('falsely deleted');
});
