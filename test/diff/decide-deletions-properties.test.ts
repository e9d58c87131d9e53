import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Absence, AbsenceFacts } from '../../src/diff/absence.ts';
import { decideDeletions, type DeletionDecision } from '../../src/diff/decide-deletions.ts';

const RULES = { graceSeconds: 900, holdAbove: { rows: 5, share: 0.1 } } as const;
const GRACE_MS = 900_000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const STATES = ['suspected', 'held', 'approved', 'rejected', 'unlisted'] as const;

/** Instants around one and two graces ago, to the millisecond. */
const instants = fc
  .tuple(fc.constantFrom(0, 1, 2), fc.integer({ min: -1, max: 1 }))
  .map(([graces, ms]) => new Date(NOW - graces * GRACE_MS + ms));

const absences = fc.record({
  state: fc.constantFrom(...STATES),
  sweep: fc.constantFrom(100, 200),
  absentSince: instants,
  firstGoneAt: fc.option(instants, { nil: null }),
  isCertified: fc.boolean(),
});

/** What is known of one record: whether it is absent, noted, protected. */
const records = fc.record({
  isAbsent: fc.boolean(),
  changedAt: instants,
  lastShown: fc.constantFrom(0, 50), // Before every sweep that may have missed it.
  absence: fc.option(absences, { nil: null }),
  isProtected: fc.constantFrom(false, false, false, true),
});

const situations: fc.Arbitrary<AbsenceFacts> = fc
  .record({
    known: fc.array(records, { maxLength: 30 }),
    more: fc.nat(400),
    doubt: fc.constantFrom('empty' as const, 'cut_off' as const, null),
    canRetrieve: fc.boolean(),
    isCertified: fc.boolean(),
  })
  .map(({ known, more, ...facts }) => {
    const all = known.map((record, index) => ({ ...record, id: String(index + 1), isListed: true }));
    const storedAbsences = all.flatMap(({ id, absence }): Absence[] =>
      absence === null ? [] : [{ id, ...absence }],
    );
    return {
      ...facts,
      absent: all.filter(({ isAbsent }) => isAbsent),
      storedAbsences: new Map(storedAbsences.map((absence) => [absence.id, absence])),
      live: all.length + more,
      sweep: 200,
      now: new Date(NOW),
    };
  });

const DECIDED = ['rejected', 'approved', 'unlisted'];

/** Nothing is noted, asked for or buried then. */
const isUndecidable = ({ isCertified, canRetrieve }: AbsenceFacts): boolean => !isCertified && !canRetrieve;

const isPast = (since: Date): boolean => NOW - since.getTime() >= GRACE_MS;

const protectedIn = ({ absent }: AbsenceFacts): ReadonlySet<string> =>
  new Set(absent.filter((row) => row.isProtected).map(({ id }) => id));

/** What is known once the plan was carried out, but for the answers. */
function afterwards(
  { storedAbsences }: AbsenceFacts,
  { toSave, toForget }: DeletionDecision,
): Map<string, Absence> {
  const known = new Map(storedAbsences);
  for (const absence of toSave) known.set(absence.id, absence);
  for (const id of toForget) known.delete(id);
  return known;
}

const holds = (claim: (facts: AbsenceFacts, plan: DeletionDecision) => void): void => {
  fc.assert(
    fc.property(situations, (facts) => {
      claim(facts, decideDeletions(facts, RULES));
    }),
    { numRuns: 3000 },
  );
};

describe('whatever is known, a plan', () => {
  test('asks or buries, never both, each record once, and only those that are absent', () => {
    holds(({ absent, canRetrieve }, { toRetrieve, tombstones, toSave }) => {
      const ids = new Set(absent.map(({ id }) => id));
      expect(canRetrieve ? tombstones : toRetrieve).toEqual([]);
      for (const some of [toRetrieve, tombstones, toSave.map(({ id }) => id)]) {
        expect(new Set(some).size).toBe(some.length);
        expect(some.filter((id) => !ids.has(id))).toEqual([]);
      }
    });
  });

  test('forgets exactly those that were noted and are there', () => {
    holds(({ absent, storedAbsences }, { toForget }) => {
      const ids = new Set(absent.map(({ id }) => id));
      expect(toForget).toEqual([...storedAbsences.keys()].filter((id) => !ids.has(id)));
    });
  });

  test('buries none at the first look: it takes a later sweep, a grace since it was missed and since it was written', () => {
    holds(({ absent, storedAbsences, sweep }, { tombstones }) => {
      for (const id of tombstones) {
        const absence = storedAbsences.get(id);
        const changedAt = absent.find((row) => row.id === id)?.changedAt;
        expect(absence === undefined || changedAt === undefined).toBe(false);
        if (absence === undefined || changedAt === undefined) continue;
        expect(absence.sweep).toBeLessThan(sweep);
        expect([isPast(absence.absentSince), isPast(changedAt)]).toEqual([true, true]);
      }
    });
  });

  test('buries none, and suspects none where nobody can be asked, unless a certified list says so', () => {
    holds(({ storedAbsences, isCertified, canRetrieve }, { toSave, toRetrieve, tombstones }) => {
      if (!isCertified) expect(tombstones).toEqual([]);
      if (!isCertified && !canRetrieve) expect([toSave, toRetrieve]).toEqual([[], []]);
      for (const id of tombstones) expect(storedAbsences.get(id)?.isCertified).toBe(true);
      if (!isCertified)
        expect(toSave.some((one) => one.isCertified && !storedAbsences.get(one.id)?.isCertified)).toBe(false);
    });
  });

  test('asks for none twice within a grace, unless its proof begins again', () => {
    holds((facts, plan) => {
      const known = afterwards(facts, plan);
      for (const id of plan.toRetrieve) {
        const firstGoneAt = known.get(id)?.firstGoneAt ?? null;
        expect(firstGoneAt === null || isPast(firstGoneAt)).toBe(true);
      }
    });
  });

  test('neither asks for nor buries what is held, rejected or protected; nor notes the last two', () => {
    holds((facts, plan) => {
      const known = afterwards(facts, plan);
      for (const id of [...plan.toRetrieve, ...plan.tombstones]) {
        expect(['held', 'rejected']).not.toContain(known.get(id)?.state);
        expect(protectedIn(facts).has(id)).toBe(false);
      }
      for (const { id, isCertified } of plan.toSave) {
        expect(protectedIn(facts).has(id)).toBe(false);
        const before = facts.storedAbsences.get(id);
        const isUpgrade = isCertified && before?.isCertified === false;
        expect(isUpgrade ? ['rejected'] : DECIDED).not.toContain(before?.state);
      }
    });
  });

  test('never buries by the list what the service has said to be there', () => {
    holds(({ storedAbsences }, { tombstones }) => {
      for (const id of tombstones) expect(storedAbsences.get(id)?.state).not.toBe('unlisted');
    });
  });

  test('touches nothing but what was approved where the list is doubtful, where many are gone, or some are held', () => {
    holds((facts, plan) => {
      if (isUndecidable(facts)) return;
      const known = afterwards(facts, plan);
      const undecided = facts.absent.filter(
        ({ id }) => !protectedIn(facts).has(id) && ['suspected', 'held'].includes(known.get(id)?.state ?? ''),
      );
      const isMany = undecided.length > Math.max(5, 0.1 * facts.live);
      const absent = new Set(facts.absent.map(({ id }) => id));
      const stored = [...facts.storedAbsences.values()].filter(({ state }) => state === 'held');
      const back = stored.filter(({ id }) => !absent.has(id)).length; // Most of them: the rest are as if never held.
      const isHeld =
        back <= 2 * undecided.length &&
        undecided.some(({ id }) => facts.storedAbsences.get(id)?.state === 'held');
      if (undecided.length === 0 || !(facts.doubt !== null || isMany || isHeld)) return;
      for (const { id } of undecided) expect(known.get(id)?.state).toBe('held');
      for (const id of [...plan.toRetrieve, ...plan.tombstones])
        expect(['approved']).toContain(known.get(id)?.state);
    });
  });

  test('drawn again at once, with what was noted, notes nothing more and buries the same', () => {
    holds((facts, plan) => {
      const again = decideDeletions({ ...facts, storedAbsences: afterwards(facts, plan) }, RULES);
      expect([again.toSave, again.toForget]).toEqual([[], []]);
      expect([again.toRetrieve, again.tombstones]).toEqual([plan.toRetrieve, plan.tombstones]);
    });
  });
});

describe('over many sweeps', () => {
  const MINUTE = 60_000;
  const sweeps = fc.array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 20 }),
      isCertified: fc.constantFrom(true, true, true, false),
      gone: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 8 }),
      decision: fc.constantFrom(null, null, null, 'approved' as const, 'rejected' as const),
    }),
    { minLength: 2, maxLength: 12 },
  );

  interface Mirrored {
    known: Map<string, Absence>;
    now: number;
    readonly buried: Set<string>;
    /** Since when each absent record has been missed by every sweep. */
    readonly missedSince: Map<string, number>;
  }

  type Chapter = typeof sweeps extends fc.Arbitrary<(infer One)[]> ? One : never;

  function sweep(
    mirrored: Mirrored,
    { minutes, gone, isCertified }: Chapter,
    index: number,
  ): DeletionDecision {
    mirrored.now += minutes * MINUTE;
    const absent = gone.map(String).filter((id) => !mirrored.buried.has(id));
    for (const id of mirrored.missedSince.keys()) if (!absent.includes(id)) mirrored.missedSince.delete(id);
    for (const id of absent) if (!mirrored.missedSince.has(id)) mirrored.missedSince.set(id, mirrored.now);
    const facts: AbsenceFacts = {
      absent: absent.map((id) => ({
        id,
        changedAt: new Date(0),
        lastShown: 0,
        isListed: true,
        isProtected: false,
      })),
      storedAbsences: mirrored.known,
      live: 8 - mirrored.buried.size,
      doubt: null,
      canRetrieve: false,
      isCertified,
      sweep: index,
      now: new Date(mirrored.now),
    };
    const plan = decideDeletions(facts, RULES);
    mirrored.known = afterwards(facts, plan);
    for (const id of plan.tombstones) mirrored.known.delete(id);
    for (const id of plan.tombstones) mirrored.buried.add(id);
    return plan;
  }

  function decide({ known }: Mirrored, { decision }: Chapter): void {
    for (const [id, absence] of known)
      if (decision !== null && absence.state === 'held') known.set(id, { ...absence, state: decision });
  }

  test('a record is buried only where two sweeps a grace apart, and all between them, missed it', () => {
    let burials = 0;
    fc.assert(
      fc.property(sweeps, (story) => {
        const mirrored: Mirrored = { known: new Map(), now: NOW, buried: new Set(), missedSince: new Map() };
        for (const [index, chapter] of story.entries()) {
          for (const id of sweep(mirrored, chapter, index).tombstones) {
            expect(mirrored.now - (mirrored.missedSince.get(id) ?? mirrored.now)).toBeGreaterThanOrEqual(
              GRACE_MS,
            );
            burials++;
          }
          decide(mirrored, chapter);
        }
      }),
      { numRuns: 2000 },
    );
    expect(burials).toBeGreaterThan(100); // Else the stories would prove nothing.
  });
});
