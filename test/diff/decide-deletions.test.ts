import { describe, expect, test } from 'vitest';
import type { Absence, AbsenceFacts, AbsentRow } from '../../src/diff/absence.ts';
import { isProvenGone, decideDeletions, type DeletionDecision } from '../../src/diff/decide-deletions.ts';

const GRACE_MS = 900_000;
const RULES = { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } } as const;
const NOON = new Date('2026-03-01T12:00:00Z');
const ago = (ms: number): Date => new Date(NOON.getTime() - ms);
const LONG_AGO = ago(30 * 86_400_000);
type Plan = Omit<DeletionDecision, 'held'>;
const NOTHING: Plan = { toSave: [], toForget: [], toRetrieve: [], tombstones: [] };

const row = (id: string, changedAt = LONG_AGO, lastShown = 0): AbsentRow => ({
  id,
  changedAt,
  lastShown,
  isListed: true,
  isProtected: false,
});
const rows = (count: number): AbsentRow[] =>
  Array.from({ length: count }, (_, index) => row(String(index + 1)));

/** An absence that an earlier sweep noted, a grace ago. */
const missing = (id: string, changes: Partial<Absence> = {}): Absence => ({
  id,
  state: 'suspected',
  sweep: 100,
  absentSince: ago(GRACE_MS),
  firstGoneAt: null,
  isCertified: true,
  ...changes,
});
const storedAbsences = (...absences: readonly Absence[]): Map<string, Absence> =>
  new Map(absences.map((absence) => [absence.id, absence]));

/** Thousand live rows, a later sweep, a kind without a path to a record. */
const wholePlan = (absent: readonly AbsentRow[], facts: Partial<AbsenceFacts> = {}): DeletionDecision =>
  decideDeletions(
    {
      absent,
      storedAbsences: storedAbsences(),
      live: 1000,
      doubt: null,
      canRetrieve: false,
      isCertified: true,
      sweep: 200,
      now: NOON,
      ...facts,
    },
    RULES,
  );

/** The same without the summary of what is held. */
const plan = (absent: readonly AbsentRow[], facts: Partial<AbsenceFacts> = {}): Plan => {
  const { toSave, toForget, toRetrieve, tombstones } = wholePlan(absent, facts);
  return { toSave, toForget, toRetrieve, tombstones };
};

describe('a row that a certified list does not have', () => {
  test('is noted, and nothing more; where it can be asked for, it is', () => {
    const first = missing('7', { sweep: 200, absentSince: NOON });
    expect(plan([row('7')])).toEqual({ ...NOTHING, toSave: [first] });
    expect(plan([row('7')], { canRetrieve: true })).toEqual({
      ...NOTHING,
      toSave: [first],
      toRetrieve: ['7'],
    });
  });

  test('is noted once', () => {
    expect(plan([row('7')], { storedAbsences: storedAbsences(missing('7', { absentSince: NOON })) })).toEqual(
      NOTHING,
    );
  });

  test('begins anew where a response has shown it since it was missed, decisions and strikes included', () => {
    const anew = missing('7', { sweep: 200, absentSince: NOON, state: 'suspected', firstGoneAt: null });
    const states = ['suspected', 'held', 'approved', 'rejected', 'unlisted'] as const;
    for (const state of states) {
      const before = missing('7', { state, firstGoneAt: LONG_AGO, absentSince: LONG_AGO });
      const shownSince = row('7', LONG_AGO, before.sweep + 1);
      expect(plan([shownSince], { storedAbsences: storedAbsences(before) })).toEqual({
        ...NOTHING,
        toSave: [anew],
      });
      const asked = plan([shownSince], { storedAbsences: storedAbsences(before), canRetrieve: true });
      expect(asked).toEqual({ ...NOTHING, toSave: [anew], toRetrieve: ['7'] });
    }
  });

  test('is forgotten once it is there again, whatever had been noted or decided', () => {
    const states = ['suspected', 'held', 'approved', 'rejected', 'unlisted'] as const;
    const all = states.map((state) => missing(state, { state }));
    expect(plan([], { storedAbsences: storedAbsences(...all) })).toEqual({
      ...NOTHING,
      toForget: [...states],
    });
  });

  test('is left alone while an unsettled write of ours is about it, and counts for nothing', () => {
    const ours = { ...row('1'), isProtected: true };
    expect(plan([ours], { storedAbsences: storedAbsences(missing('1')) })).toEqual(NOTHING);
    expect(plan([ours], { canRetrieve: true })).toEqual(NOTHING);
    const [, ...others] = rows(6);
    const { toSave } = plan([ours, ...others]);
    expect(toSave.map(({ id, state }) => [id, state])).toEqual(others.map(({ id }) => [id, 'suspected']));
  });
});

describe('proof by the list', () => {
  test('is a second certified point, of a later sweep, a grace after the first and after the last write', () => {
    expect(plan([row('7', ago(GRACE_MS))], { storedAbsences: storedAbsences(missing('7')) })).toEqual({
      ...NOTHING,
      tombstones: ['7'],
    });
  });

  test.each<[string, Partial<Absence>, Date]>([
    ['the same sweep', { sweep: 200 }, LONG_AGO],
    ['less than a grace after the first', { absentSince: ago(GRACE_MS - 1) }, LONG_AGO],
    ['less than a grace after the row was written', {}, ago(GRACE_MS - 1)],
    ['what the service has said to be there', { state: 'unlisted' }, LONG_AGO],
  ])('is not %s', (_name, changes, changedAt) => {
    expect(plan([row('7', changedAt)], { storedAbsences: storedAbsences(missing('7', changes)) })).toEqual(
      NOTHING,
    );
  });

  test('takes one more point where the pages may be of different ages', () => {
    const facts = { canBeMixed: true, storedAbsences: storedAbsences(missing('7')) };
    const struck = missing('7', { sweep: 200, firstGoneAt: NOON });
    expect(plan([row('7')], facts)).toEqual({ ...NOTHING, toSave: [struck] });
    const later = missing('7', { sweep: 150, firstGoneAt: ago(GRACE_MS) });
    expect(plan([row('7')], { ...facts, storedAbsences: storedAbsences(later) })).toEqual({
      ...NOTHING,
      tombstones: ['7'],
    });
    const young = missing('7', { sweep: 150, firstGoneAt: ago(GRACE_MS - 1) });
    expect(plan([row('7')], { ...facts, storedAbsences: storedAbsences(young) })).toEqual(NOTHING);
  });
});

describe('proof by asking', () => {
  test('takes two answers, a grace apart', () => {
    expect(isProvenGone({ firstGoneAt: null }, NOON, RULES)).toBe(false);
    expect(isProvenGone({ firstGoneAt: ago(GRACE_MS - 1) }, NOON, RULES)).toBe(false);
    expect(isProvenGone({ firstGoneAt: ago(GRACE_MS) }, NOON, RULES)).toBe(true);
  });

  test.each<[Date | null, readonly string[]]>([
    [null, ['7']],
    [ago(0), []],
    [ago(GRACE_MS - 1), []],
    [ago(GRACE_MS), ['7']],
  ])('with the first look at %s asks for %j', (firstGoneAt, toRetrieve) => {
    const facts = { storedAbsences: storedAbsences(missing('7', { firstGoneAt })), canRetrieve: true };
    expect(plan([row('7')], facts)).toEqual({ ...NOTHING, toRetrieve });
  });

  test('is never the list, however often that misses the row', () => {
    expect(
      plan([row('7')], {
        storedAbsences: storedAbsences(missing('7', { firstGoneAt: NOON })),
        canRetrieve: true,
      }).tombstones,
    ).toEqual([]);
  });

  test('asks for what the list leaves out again and again, but for twenty a sweep', () => {
    const unlisted = rows(50).map(({ id }) => missing(id, { state: 'unlisted', firstGoneAt: ago(GRACE_MS) }));
    const suspected = row('gone');
    const { toRetrieve } = plan([...rows(50), suspected], {
      storedAbsences: storedAbsences(...unlisted),
      canRetrieve: true,
    });
    expect(toRetrieve).toHaveLength(21);
    expect(toRetrieve).toContain('gone');
  });
});

describe('a mass disappearance', () => {
  const states = ({ toSave }: Plan) => new Set(toSave.map(({ state }) => state));

  test.each<[number, number, 'suspected' | 'held']>([
    [3, 10, 'suspected'],
    [4, 10, 'held'],
    [2, 3, 'suspected'],
    [5, 15, 'suspected'],
    [6, 10, 'held'],
    [6, 300, 'suspected'],
    [7, 300, 'held'],
    [20, 1000, 'suspected'],
    [21, 1000, 'held'],
  ])('of %i in %i is %s', (gone, live, state) => {
    for (const canRetrieve of [true, false]) {
      const made = plan(rows(gone), { live, canRetrieve });
      expect([made.toSave.length, [...states(made)]]).toEqual([gone, [state]]);
      expect(made.toRetrieve).toHaveLength(canRetrieve && state === 'suspected' ? gone : 0);
    }
  });

  test('that comes little by little is held all the same, those noted before included', () => {
    const before = rows(20).map(({ id }) => missing(id));
    const { toSave, tombstones } = plan(rows(21), { storedAbsences: storedAbsences(...before) });
    expect([toSave.length, tombstones]).toEqual([21, []]);
    expect(new Set(toSave.map(({ state }) => state))).toEqual(new Set(['held']));
    expect(toSave.find(({ id }) => id === '1')).toEqual(missing('1', { state: 'held' }));
  });

  test('stays held until a person decides, although the rest has come back; what is new joins it', () => {
    const facts = {
      storedAbsences: storedAbsences(missing('1', { state: 'held' }), missing('2', { state: 'held' })),
    };
    expect(plan([row('1')], facts)).toEqual({ ...NOTHING, toForget: ['2'] });
    const joined = plan([row('1'), row('3')], facts);
    expect(joined.toSave).toEqual([missing('3', { state: 'held', sweep: 200, absentSince: NOON })]);
  });

  test.each([true, false])(
    'of a list that is doubtful is held however few are gone; can be asked: %s',
    (canRetrieve) => {
      const made = plan([row('1')], { doubt: 'empty', canRetrieve });
      expect(made).toEqual({
        ...NOTHING,
        toSave: [missing('1', { state: 'held', sweep: 200, absentSince: NOON })],
      });
      expect(
        plan([row('1')], { doubt: 'empty', canRetrieve, storedAbsences: storedAbsences(missing('1')) }),
      ).toEqual({
        ...NOTHING,
        toSave: [missing('1', { state: 'held' })],
      });
    },
  );

  test.each([
    ['rows:5', 6, { live: 100 }],
    ['share:0.02', 21, { live: 1000 }],
    ['third', 3, { live: 8 }],
    ['empty', 1, { doubt: 'empty' }],
    ['empty', 30, { doubt: 'empty', live: 30 }],
    ['cut_off', 1, { doubt: 'cut_off' }],
    ['replaced', 1, { isReplaced: true }],
    [undefined, 5, { live: 1000 }],
  ] as const)('is held by the rule %s', (rule, count, facts) => {
    expect(wholePlan(rows(count), facts).held.rule).toBe(rule);
  });

  test('that another row has replaced is held as soon as only the list could prove it', () => {
    const asked = plan([row('1')], { isReplaced: true, canRetrieve: true });
    const noted = missing('1', { sweep: 200, absentSince: NOON, why: 'replaced' });
    expect(asked).toEqual({ ...NOTHING, toSave: [noted], toRetrieve: ['1'] });
    const facts = { storedAbsences: storedAbsences(missing('1', { why: 'replaced' })) };
    expect(plan([row('1')], facts)).toEqual({ ...NOTHING, toSave: [missing('1', { state: 'held' })] });
    expect(plan([row('1')], { ...facts, canRetrieve: true }).toSave).toEqual([]);
  });

  test('that was approved needs its proof like any other', () => {
    const young = { state: 'approved', absentSince: NOON } as const;
    const thirty = (changes: Partial<Absence>) =>
      storedAbsences(...rows(30).map(({ id }) => missing(id, changes)));
    expect(plan(rows(30), { storedAbsences: thirty(young) })).toEqual(NOTHING);
    expect(plan(rows(30), { storedAbsences: thirty({ state: 'approved' }) }).tombstones).toHaveLength(30);
    expect(
      plan(rows(30), { storedAbsences: thirty({ state: 'approved' }), canRetrieve: true }),
    ).toMatchObject({
      tombstones: [],
    });
    expect(
      plan(rows(30), { storedAbsences: thirty({ state: 'approved' }), canRetrieve: true }).toRetrieve,
    ).toHaveLength(30);
  });

  test('that was approved goes on, although another one is held meanwhile', () => {
    const facts = {
      storedAbsences: storedAbsences(missing('1', { state: 'approved' }), missing('2', { state: 'held' })),
    };
    expect(plan([row('1'), row('2')], facts).tombstones).toEqual(['1']);
  });

  test('that was rejected stays out, and counts for no other', () => {
    const rejected = rows(20).map(({ id }) => missing(id, { state: 'rejected' }));
    for (const canRetrieve of [true, false])
      expect(plan(rows(20), { storedAbsences: storedAbsences(...rejected), canRetrieve })).toEqual(NOTHING);
    const { toSave } = plan(rows(25), { storedAbsences: storedAbsences(...rejected) });
    expect(toSave.map(({ state }) => state)).toEqual(Array<string>(5).fill('suspected'));
  });
});

describe('a row that two complete sweeps did not show, of a list that is not known exactly,', () => {
  const moving = { isCertified: false, canRetrieve: true } as const;
  const unseen = (id: string, changes: Partial<Absence> = {}): Absence =>
    missing(id, { isCertified: false, ...changes });

  test('is noted and asked for, and is no more than a reason to ask', () => {
    const first = unseen('7', { sweep: 200, absentSince: NOON });
    expect(plan([row('7')], moving)).toEqual({ ...NOTHING, toSave: [first], toRetrieve: ['7'] });
    const later = plan([row('7')], {
      ...moving,
      storedAbsences: storedAbsences(unseen('7', { firstGoneAt: ago(GRACE_MS) })),
    });
    expect(later).toEqual({ ...NOTHING, toRetrieve: ['7'] });
  });

  test('where nobody can be asked, is nothing; only what is there again is forgotten', () => {
    const facts = {
      isCertified: false,
      canRetrieve: false,
      storedAbsences: storedAbsences(missing('1'), missing('2')),
    };
    expect(plan([row('1'), row('3')], facts)).toEqual({ ...NOTHING, toForget: ['2'] });
  });

  test('counts for the proof by the list from the first certified look on', () => {
    for (const state of ['suspected', 'held', 'approved'] as const) {
      const before = unseen('7', { state, firstGoneAt: LONG_AGO, absentSince: LONG_AGO });
      const certified = { ...before, isCertified: true, sweep: 200, absentSince: NOON };
      expect(plan([row('7')], { storedAbsences: storedAbsences(before) })).toEqual({
        ...NOTHING,
        toSave: [certified],
      });
    }
  });

  test('does not take back that a certified list has missed it', () => {
    expect(
      plan([row('7')], { ...moving, storedAbsences: storedAbsences(missing('7', { firstGoneAt: NOON })) }),
    ).toEqual(NOTHING);
  });

  test('is held with the others where many are gone at once', () => {
    const { toSave, toRetrieve } = plan(rows(21), moving);
    expect([new Set(toSave.map(({ state }) => state)), toRetrieve]).toEqual([new Set(['held']), []]);
  });
});

describe('what is held', () => {
  const held = (...ids: readonly string[]): readonly Absence[] =>
    ids.map((id) => missing(id, { state: 'held' }));

  test('stays what it is where a sweep has nothing to say', () => {
    const facts = {
      storedAbsences: storedAbsences(...held('1', '2')),
      isCertified: false,
      canRetrieve: false,
    };
    expect(wholePlan([row('1'), row('2')], facts).held).toEqual({ records: 2 });
    expect(wholePlan([row('1')], facts).held).toEqual({ records: 1 });
  });

  test.each<[string, readonly AbsentRow[], number]>([
    ['the same are absent', [row('1'), row('2')], 2],
    ['one joins', [row('1'), row('2'), row('3')], 3],
    ['one is there again', [row('1')], 1],
    ['all are there again', [], 0],
  ])('is counted where %s', (_name, absent, records) => {
    expect(wholePlan(absent, { storedAbsences: storedAbsences(...held('1', '2')) }).held.records).toBe(
      records,
    );
  });
});

test('a list of recent rows is held although another row was deleted at the same time, which waits', () => {
  const oldest = { by: 'id', ids: new Set(['1', '2', '3']), isOutOfScope: false, waves: 0 };
  const absent = [...rows(3), row('500')];
  const before = storedAbsences(missing('500'));
  const { held, tombstones } = wholePlan(absent, { oldest, storedAbsences: before });
  expect(held.records).toBe(3);
  expect(tombstones).toEqual([]);
  const decided = { ...oldest, isOutOfScope: true };
  expect(wholePlan(absent, { oldest: decided, storedAbsences: before }).tombstones).toEqual(['500']);
});

describe('a row that an answer named, and no list has shown,', () => {
  const unlisted = { ...row('1'), isListed: false };
  const WEEK_MS = 7 * 86_400_000;
  const waits = (age: number, changes: Partial<Absence> = {}): Partial<AbsenceFacts> => ({
    storedAbsences: storedAbsences(missing('1', { absentSince: ago(age), why: 'never_listed', ...changes })),
  });

  test('is not asked for: it may wait for an approval, and then does not answer', () => {
    expect(plan([unlisted], { canRetrieve: true })).toMatchObject({
      toRetrieve: [],
      toSave: [{ why: 'never_listed' }],
    });
    expect(plan([unlisted], { canRetrieve: true, ...waits(GRACE_MS) })).toEqual(NOTHING);
  });

  test.each([true, false])(
    'needs a person after a week, who lets it be proven: can ask %s',
    (canRetrieve) => {
      const { toSave } = plan([unlisted], { canRetrieve, ...waits(WEEK_MS) });
      expect(toSave).toMatchObject([{ state: 'held', why: 'never_listed' }]);
      const approved = plan([unlisted], { canRetrieve, ...waits(WEEK_MS, { state: 'approved' }) });
      expect(approved).toMatchObject(
        canRetrieve ? { toRetrieve: ['1'], tombstones: [] } : { toRetrieve: [], tombstones: ['1'] },
      );
    },
  );

  test('lets the same list prove nothing of other rows, until a person has decided about them', () => {
    const both = [unlisted, row('2')];
    const facts = (changes: Partial<Absence>): Partial<AbsenceFacts> => ({
      storedAbsences: storedAbsences(missing('1', { why: 'never_listed' }), missing('2', changes)),
    });
    expect(plan(both, facts({}))).toEqual(NOTHING);
    expect(plan(both, facts({ absentSince: ago(WEEK_MS) }))).toMatchObject({
      toSave: [{ id: '2', state: 'held', why: 'others_hidden' }],
      tombstones: [],
    });
    expect(plan(both, facts({ state: 'approved' })).tombstones).toEqual(['2']);
    expect(plan([row('2')], facts({})).tombstones).toEqual(['2']);
  });
});
