import { certify } from '../../src/diff/certify.ts';
import type { Sighting } from '../../src/diff/certify.ts';
import { SourceError } from '../../src/source/http/errors.ts';
import { NO_META } from '../../src/source/http/read-answer.ts';
import type { Meta } from '../../src/source/http/read-answer.ts';
import type { PageResponse } from '../../src/source/paging/page-checks.ts';
import { advance, reopenSweep, startSweep } from '../../src/source/paging/sweep-plan.ts';
import type { SweepPlan } from '../../src/source/paging/sweep-plan.ts';

/** How a service pages a list, and what its answers say of that. */
export interface Manner {
  /** Rows on a page; null = `page` is ignored, and every answer is the whole list. */
  readonly pageSize: number | null;
  readonly order: 'newest first' | 'oldest first';
  readonly beyond: 'empty' | 'missing' | 'last page again';
  readonly tells: {
    readonly total: boolean;
    readonly lastPage: boolean;
    readonly currentPage: boolean;
    readonly links: boolean;
    /** `capped`: it repeats what was asked for, and sends fewer. */
    readonly perPage: 'no' | 'true' | 'capped';
  };
}

export interface Step {
  /** Rows that come, or leave, before the sweep. */
  readonly grows: number;
  readonly shrinks: number;
  /**
   * At which requests of the sweep the list changes, and how: rows that come, half a page at most, or else the place of one
   * that leaves. More between two requests would make one page look like another.
   */
  readonly moves: ReadonlyMap<number, { readonly grows: number } | { readonly leaves: number }>;
}

export interface SweepOutcome {
  readonly state: 'certified' | 'complete' | 'invalid';
  /** Why it is invalid, or not certified. */
  readonly reason: string | null;
  readonly requests: number;
  /** The list that a certificate names is one that the service had. */
  readonly isTrue: boolean;
}

const MOST_READINGS = 3;
const SWEEPS_KEPT = 3;

/** A list in this process, swept as a pull sweeps it, without records, a mirror or a network. */
export function createUncountedList(manner: Manner, rows: number) {
  let list: readonly number[] = Array.from({ length: rows }, (_, index) => index + 1);
  let nextId = rows + 1;
  let tick = 0;
  let wholeUpTo = 0;
  let sweeps = 0;
  let hasBaseline = false;
  let sightings: Sighting[] = [];
  const live = new Set<string>();
  const truths = new Set<string>([keyOf(list)]);

  function change(next: readonly number[]): void {
    list = next;
    truths.add(keyOf(list));
  }

  const grow = (): void => {
    change(manner.order === 'newest first' ? [nextId++, ...list] : [...list, nextId++]);
  };

  const shrink = (place: number): void => {
    if (list.length > 0) change(list.toSpliced(place % list.length, 1));
  };

  function move(how: ReturnType<Step['moves']['get']>): void {
    if (how === undefined) return;
    if ('leaves' in how) shrink(how.leaves);
    else
      for (let count = 0; count < Math.min(how.grows, Math.floor((manner.pageSize ?? 2) / 2)); count++)
        grow();
  }

  function read(plan: SweepPlan, moves: Step['moves'], asked: { count: number }): SweepPlan {
    let after = plan;
    while (after.ask !== null) {
      const { from, to } = after.ask;
      for (let page = from; page <= to; page++) {
        move(moves.get(asked.count++));
        const sent = ++tick;
        const response = answer(manner, list, page);
        after = advance(after, response);
        const { keys, meta } = response;
        const ids = `[${[...keys].join()}]`;
        for (const key of keys) live.add(key);
        const shown = { page: after.shown, rows: keys.length, ids, total: meta.total };
        sightings.push({ sweep: sweeps, sent, answered: ++tick, endRows: after.end?.rows ?? null, ...shown });
      }
    }
    return after;
  }

  function judge(): Omit<SweepOutcome, 'requests'> & { readonly isOfThis: boolean } {
    const verdict = certify(sightings);
    if (!verdict.certified)
      return { state: 'complete', reason: verdict.reason, isTrue: true, isOfThis: false };
    const named = [...live].filter(verdict.lists).map(Number);
    const isOfThis = verdict.point.sweep === sweeps;
    if (isOfThis) for (const id of verdict.absent()) live.delete(id);
    return {
      state: isOfThis ? 'certified' : 'complete',
      reason: isOfThis ? null : 'certified_earlier',
      isTrue: truths.has(keyOf(named)) && named.length === verdict.size,
      isOfThis,
    };
  }

  function sweep({ grows, shrinks, moves }: Step): SweepOutcome {
    for (let count = 0; count < grows; count++) grow();
    for (let count = 0; count < shrinks; count++) shrink(count * 7);
    sweeps++;
    sightings = sightings.filter((one) => (one.sweep ?? 0) > sweeps - SWEEPS_KEPT);
    const asked = { count: 0 };
    const start = { where: 'GET /list', thorough: sweeps === 1, knownRows: live.size, wholeUpTo };
    try {
      let plan = read(startSweep(start), moves, asked);
      let outcome = judge();
      const shown = (): number =>
        new Set(sightings.filter((one) => one.sweep === sweeps).flatMap(idsOf)).size;
      for (let reading = 1; reading < MOST_READINGS && !outcome.isOfThis; reading++) {
        if (hasBaseline && live.size <= shown()) break;
        plan = read(reopenSweep(plan), moves, asked);
        outcome = judge();
      }
      wholeUpTo = Math.max(wholeUpTo, plan.wholeAt ?? 0);
      hasBaseline ||= outcome.state === 'certified';
      return { ...outcome, requests: asked.count };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      sightings = sightings.map((one) => (one.sweep === sweeps ? { ...one, endRows: null } : one));
      return { state: 'invalid', reason: error.reason, requests: asked.count, isTrue: true };
    }
  }

  return { sweep, length: () => list.length };
}

const keyOf = (list: readonly number[]): string => [...list].sort((a, b) => a - b).join();

const idsOf = ({ ids }: Sighting): string[] => ids.slice(1, -1).split(',').filter(Boolean);

const ASKED_FOR = 100;

function answer(manner: Manner, list: readonly number[], asked: number): PageResponse {
  const { pageSize, beyond, tells } = manner;
  const size = pageSize ?? Math.max(1, list.length);
  const last = Math.max(1, Math.ceil(list.length / size));
  const isClamped = pageSize === null || (beyond === 'last page again' && asked > last);
  const page = isClamped ? Math.min(asked, last) : asked;
  const rows = list.slice((page - 1) * size, page * size);
  if (rows.length === 0 && asked > 1 && beyond === 'missing')
    return {
      page: asked,
      keys: [],
      meta: NO_META,
      missing: new SourceError('not_found', 'GET /list: got 404'),
    };
  const meta = toldOf(tells, { currentPage: page, lastPage: last, total: list.length, perPage: size });
  return { page: asked, keys: rows.map(String), meta, hasNext: tells.links ? page < last : null };
}

function toldOf(tells: Manner['tells'], meta: Meta): Meta {
  return {
    currentPage: tells.currentPage ? meta.currentPage : null,
    lastPage: tells.lastPage ? meta.lastPage : null,
    total: tells.total ? meta.total : null,
    perPage: tells.perPage === 'no' ? null : tells.perPage === 'true' ? meta.perPage : ASKED_FOR,
  };
}
