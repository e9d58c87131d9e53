import type { ListedKind } from '../../src/catalog/kind.ts';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import type { certify } from '../../src/diff/certify.ts';
import type { isCalendarDate } from '../../src/lib/time/clock.ts';
import type { isOvertaken, judge } from '../../src/diff/judge-page.ts';
import type { planDeletions } from '../../src/diff/plan-deletions.ts';
import type { SqlValue } from '../../src/mirror/session/session.ts';
import type { askForAbsent } from '../../src/pull/deletions/absence-evidence.ts';
import type { createSweepState } from '../../src/pull/run/sweep.ts';
import type { claimKind } from '../../src/mirror/kinds/kind-lease.ts';
import type { provenEnd } from '../../src/source/paging/page-checks.ts';
import type { readRecord } from '../../src/source/http/read-answer.ts';
import type { advance } from '../../src/source/paging/sweep-plan.ts';
import {
  appending,
  appendingEventsLater,
  findsAlways,
  idsOf,
  lastSweepOf,
  mapped,
  presenceIn,
  putting,
  rounded,
  without,
} from './doubles.ts';
import type { Doubles } from './stage.ts';
import type { Fixed } from './schedule.ts';

/** Pure functions of the code under test for which a test can put a double, made of the real one. */
export interface Plantable {
  certify: typeof certify;
  planDeletions: typeof planDeletions;
  askForAbsent: typeof askForAbsent;
  isOvertaken: typeof isOvertaken;
  judge: typeof judge;
  createSweepState: typeof createSweepState;
  readRecord: typeof readRecord;
  provenEnd: typeof provenEnd;
  advance: typeof advance;
  isCalendarDate: typeof isCalendarDate;
  claimKind: typeof claimKind;
}

export type Planted = { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };

export interface PlantedBug {
  readonly name: string;
  /** Names the bug, or the hazard that it leaves open. */
  readonly id: string;
  readonly parts?: Planted;
  /** Made anew for every schedule. */
  readonly doubles?: () => Doubles;
  /** What the schedules must have for the bug to matter. */
  readonly fixed?: Fixed;
}

const departments = LISTED_KINDS.find(({ name }) => name === 'departments') as ListedKind;

/** The second look is there for services that lie: without it, what a false certificate says is done at once. */
const HASTY: Planted = {
  planDeletions: (real) => (facts, rules) => ({
    ...real(facts, rules),
    ask: [],
    tombstones: facts.absent.map(({ id }) => id),
  }),
};
const LIVELY: Fixed = {
  personality: 'honest',
  plan: { kills: 0, clockSteps: 0, concurrency: 4, changesBetween: 2, sweeps: 4, repeatBelowPages: 20 },
};
/** Pages under way side by side, while what they show changes and moves. */
const RACING: Fixed = {
  personality: 'honest',
  kind: { kind: departments, order: 'rank', rows: 20, paging: { size: 3, hasMeta: true } },
  plan: {
    ...{ kills: 0, clockSteps: 0, sweeps: 5, concurrency: 8 },
    busy: {
      ...{ churn: 0.8, slowestMs: 200, faults: { passing: 0, nonsense: 0 } },
      changes: ['edit', 'move', 'insert', 'delete'],
    },
  },
};

/** Rows that change pages and contents, and back again: the same bytes stand for other rows than they did. */
const TO_AND_FRO: Fixed = {
  personality: 'honest',
  kind: { kind: departments, order: 'newest first', rows: 8, paging: { size: 3, hasMeta: true } },
  plan: {
    ...{ kills: 0, clockSteps: 0, sweeps: 6, concurrency: 2, changesBetween: 1 },
    busy: {
      ...{ churn: 0.3, slowestMs: 20, faults: { passing: 0, nonsense: 0 } },
      changes: ['detour'],
    },
  },
};

const certifying = (double: (real: typeof certify) => typeof certify): Planted => ({
  ...HASTY,
  certify: double,
});

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a short page ends the list',
    id: 'P01',
    fixed: { personality: 'holes' },
    parts: {
      advance: (real) => (plan, response) => {
        const next = real(plan, response);
        const isShort = response.keys.length > 0 && response.keys.length < next.stride;
        return isShort && (plan.phase === 'body' || plan.phase === 'walk')
          ? {
              ...next,
              phase: 'done',
              ask: null,
              end: { rows: (response.page - 1) * next.stride + response.keys.length },
            }
          : next;
      },
    },
  },
  {
    name: 'a row absent from one sweep is deleted',
    id: 'P02',
    fixed: LIVELY,
    parts: certifying(() => (responses) => presenceIn(responses, lastSweepOf(responses))),
  },
  {
    name: 'sightings of several sweeps count as one whole sweep',
    id: 'P03',
    fixed: LIVELY,
    parts: certifying((real) => (responses) => {
      const end = responses.findLast(({ endRows }) => endRows !== null);
      const recent = responses.filter(({ sweep }) => sweep === lastSweepOf(responses));
      return end && new Set(recent.flatMap(idsOf)).size === end.endRows
        ? presenceIn(responses, end.sweep)
        : real(responses);
    }),
  },
  {
    name: 'the total alone says how many rows there are',
    id: 'P04',
    fixed: { ...LIVELY, personality: 'staleTotal' },
    parts: certifying(
      (real) => (responses, known) =>
        real(
          responses.map((one) => ({ ...one, endRows: one.total })),
          known,
        ),
    ),
  },
  {
    name: 'rows that these sweeps landed count as known before',
    id: '§3.1b',
    fixed: LIVELY,
    parts: certifying((real) => (responses) => real(responses, [...new Set(responses.flatMap(idsOf))])),
  },
  {
    name: 'a full last page is trusted to be the last',
    id: '§3.1b',
    fixed: { ...LIVELY, personality: 'staleTotal' },
    parts: {
      ...HASTY,
      provenEnd: (real) => (shown, stride) =>
        shown.rows === stride && shown.meta.lastPage === shown.page
          ? { rows: shown.page * stride }
          : real(shown, stride),
    },
  },
  {
    name: 'what is gone from one certified list is deleted at once',
    id: 'A27',
    fixed: { personality: 'blink' },
    parts: HASTY,
  },
  {
    name: 'what two complete sweeps did not show is deleted without asking',
    id: 'P02b',
    fixed: RACING,
    parts: {
      planDeletions: (real) => (facts, rules) =>
        facts.isCertified
          ? real(facts, rules)
          : { ...real(facts, rules), ask: [], tombstones: facts.absent.map(({ id }) => id) },
    },
  },
  {
    name: 'a web page with status 404 says that a record is gone',
    id: 'P06',
    fixed: { personality: 'retrieveIsWebPage' },
    parts: { readRecord: (real) => (id) => (answer) => (answer.status === 404 ? null : real(id)(answer)) },
  },
  {
    name: 'an emptied list is believed',
    id: 'P07',
    fixed: { personality: 'emptyAll' },
    parts: {
      planDeletions: (real) => (facts, rules) =>
        real({ ...facts, isDoubtful: false }, { ...rules, holdAbove: { rows: 1e9, share: 1 } }),
    },
  },
  {
    name: 'a record that answers is deleted all the same',
    id: 'A12',
    fixed: { personality: 'retrieveIsWebPage' },
    parts: {
      askForAbsent:
        () =>
        (_parts, { ids }) =>
          Promise.resolve({ gone: ids, there: [], isSound: true }),
    },
  },
  {
    name: 'nobody asks whether the retrieve path finds anything at all',
    id: 'R1',
    fixed: { personality: 'retrieveSaysGone' },
    parts: {
      askForAbsent: (real) => (parts, asked) =>
        real(
          { ...parts, source: { ...parts.source, retrieve: findsAlways(parts.source, asked.control) } },
          asked,
        ),
    },
  },
  {
    name: "another kind's retrieve path is trusted",
    id: '§4.4',
    fixed: LIVELY,
    doubles: () => ({
      request: (request) => ({
        ...request,
        kinds: request.kinds.map((kind) => {
          if (kind.retrieve === null) return kind;
          const { path, header } = kind.retrieve;
          return { ...kind, retrieve: { path, header } };
        }),
      }),
    }),
  },
  {
    name: 'an older answer overwrites a newer one',
    id: 'P30',
    fixed: RACING,
    parts: { isOvertaken: () => () => false },
  },
  {
    name: 'a page goes unparsed although its rows were written since',
    id: '§3.1b (3)',
    fixed: TO_AND_FRO,
    parts: {
      createSweepState: (real) => (known) => {
        const state = real(known);
        const forgetful = { lastWrite: () => 0, isEmpty: () => true };
        return {
          ...state,
          touched: { ...state.touched, ...forgetful },
          draft: (sending) => {
            const draft = state.draft(sending);
            return { ...draft, touched: { ...draft.touched, ...forgetful } };
          },
        };
      },
    },
  },
  {
    name: 'every fifth event is lost',
    id: 'X13',
    fixed: LIVELY,
    doubles: () => {
      let events = 0;
      return {
        session: appending((real, rows) =>
          rows.table === 'changes'
            ? real({ ...rows, rows: rows.rows.filter(() => ++events % 5 !== 0) })
            : real(rows),
        ),
      };
    },
  },
  {
    name: 'events are written after the transaction that writes their rows',
    id: 'P17',
    fixed: { plan: { kills: 0.9, sweeps: 5, changesBetween: 4 } },
    doubles: () => ({ session: appendingEventsLater }),
  },
  {
    name: 'the first reading of a list is news',
    id: 'baseline',
    fixed: LIVELY,
    parts: {
      claimKind: (real) => async (session, claim) => {
        const lease = await real(session, claim);
        return { ...lease, baselineAt: lease.baselineAt ?? '2026-01-01 00:00:00.000' };
      },
    },
  },
  {
    name: 'a record that is back stays deleted',
    id: 'A28',
    fixed: { personality: 'hideRestore' },
    doubles: () => ({ session: putting((rows) => without(rows, '_deleted_at')) }),
  },
  {
    name: 'decimals pass through a float',
    id: 'P22',
    doubles: () => ({
      session: putting((rows) =>
        mapped(rows, (column, value) =>
          /^(credit|ptotal|product_price)$/.test(column) && value !== null ? String(Number(value)) : value,
        ),
      ),
    }),
  },
  {
    name: 'bodies pass through JSON.parse',
    id: 'P23',
    doubles: () => ({
      http: (client) => ({
        ...client,
        get: async (request, signal) => rounded(await client.get(request, signal)),
      }),
    }),
  },
  {
    name: 'whatever Date takes for a day is a day',
    id: 'P24',
    fixed: { personality: 'honest' },
    parts: { isCalendarDate: () => (text) => !Number.isNaN(Date.parse(text)) },
  },
  {
    name: 'events carry the time of a clock that was set back',
    id: 'P25',
    fixed: { personality: 'honest', plan: { clockSteps: 0.9, sweeps: 5, changesBetween: 4 } },
    doubles: () => {
      let now = (): Date => new Date(0);
      const at = (value: SqlValue): SqlValue =>
        value === null ? null : now().toISOString().replace('T', ' ').replace('Z', '');
      return {
        clock: (clock) => {
          now = () => clock.now();
          return clock;
        },
        session: appending((real, rows) =>
          real(
            rows.table === 'changes'
              ? mapped(rows, (column, value) => (column === 'observed_at' ? at(value) : value))
              : rows,
          ),
        ),
      };
    },
  },
  {
    name: 'another spelling of the same values is a change',
    id: 'phantom',
    fixed: LIVELY,
    parts: {
      judge: (real) => (kind, stored, received) => {
        const verdict = real(kind, stored, received);
        const isRespelled = verdict.is === 'unchanged' && stored !== undefined && stored.raw !== received.raw;
        return isRespelled ? { is: 'changed', fields: [], before: received.record } : verdict;
      },
    },
  },
];
