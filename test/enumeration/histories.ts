import { certify, type Sighting } from '../../src/diff/certify.ts';
import { provenEnd } from '../../src/source/paging/page-checks.ts';
import { NO_META } from '../../src/source/http/read-answer.ts';
import { SourceError } from '../../src/source/http/errors.ts';
import { nextStep, reopenWalk, startWalk } from '../../src/source/paging/page-walk.ts';
import type { PageWalk } from '../../src/source/paging/walk-steps.ts';
import { createListStates, type ListState, type ListStates, type Shown } from './list-states.ts';

/** A small world; all its histories are tried. */
export interface Shape {
  readonly rows: number;
  readonly perPage: number;
  readonly sweeps: number;
  readonly changes: number;
  readonly inFlight: number;
  /** The input of the certificate: all that `meta` says, or the bare pages, which prove the end more often. */
  readonly proof: 'meta' | 'bare pages';
  /** The rows at the beginning are known from before. */
  readonly known?: boolean;
  readonly thorough?: boolean;
  /** Every sweep reads the end and the pages before it once more. */
  readonly closing?: boolean;
  /** A request may leave later than it could. */
  readonly lateSends?: boolean;
}

export interface Figures {
  histories: number;
  verdicts: number;
  certificates: number;
  /** Certificates that name other rows than the list had. */
  wrong: number;
  /** Verdicts that say that a premise is broken, which none is. */
  alarms: number;
  /** Sweeps that the walk ended because a page seemed to repeat another. */
  refused: number;
  /** Histories in which a row that is there was on no page of any sweep. */
  usualRuleWrong: number;
}

export interface Hooks {
  /** Plants a bug in the input of the certificate. */
  readonly chooseSightings?: (log: readonly Entry[]) => readonly Sighting[];
}

/** A landed response, with the list as it was when it was read. */
export interface Entry {
  readonly sighting: Sighting;
  readonly shown: Shown;
  readonly list: ListState;
}

/** A request under way; `shown` is null until the service has read the list for it. */
interface Flight {
  readonly page: number;
  readonly sent: number;
  readonly shown: Shown | null;
  readonly list: ListState;
}

interface Arrived {
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  readonly shown: Shown;
  readonly list: ListState;
}

interface State {
  readonly list: ListState;
  readonly walk: PageWalk;
  readonly sweep: number;
  readonly isClosing: boolean;
  /** No sweep has been refused. */
  readonly isWhole: boolean;
  readonly tick: number;
  /** The next page of `walk.step.ask` to ask for, and to land: pages land in the order in which they were asked for. */
  readonly toSend: number;
  readonly toLand: number;
  readonly flights: readonly Flight[];
  readonly arrived: readonly Arrived[];
  readonly log: readonly Entry[];
}

interface World {
  readonly shape: Shape;
  readonly lists: ListStates;
  readonly known: readonly string[];
  readonly first: PageWalk;
  readonly advanced: WeakMap<PageWalk, Map<Shown, PageWalk | null>>;
  readonly figures: Figures;
  readonly hooks: Hooks;
}

/**
 * Goes through every history of a small list that sweeps read while it changes: every interleaving of requests, reads,
 * receipts and changes. The list is read at any instant between a request's ticks.
 *
 * Histories that nothing can distinguish are gone through once: a read waits only for a change, and a list changes only
 * where a waiting request then reads it.
 */
export function goThroughHistories(shape: Shape, hooks: Hooks = {}): Figures {
  const rows = Array.from({ length: shape.rows }, (_, index) => index + 1);
  const list: ListState = { rows, nextId: shape.rows + 1, changesLeft: shape.changes };
  const first = startWalk({ where: 'GET /list', thorough: shape.thorough ?? false });
  const world: World = {
    shape,
    hooks,
    first,
    lists: createListStates(shape.perPage),
    advanced: new WeakMap(),
    known: shape.known ? rows.map(String) : [],
    figures: {
      histories: 0,
      verdicts: 0,
      certificates: 0,
      wrong: 0,
      alarms: 0,
      refused: 0,
      usualRuleWrong: 0,
    },
  };
  const nothing = { flights: [], arrived: [], log: [] };
  send(world, {
    list,
    walk: first,
    sweep: 1,
    isClosing: false,
    isWhole: true,
    tick: 0,
    toSend: 1,
    toLand: 1,
    ...nothing,
  });
  return world.figures;
}

/** Asks for as many pages as may be under way. */
function send(world: World, state: State): void {
  const { walk, flights, toSend, tick, list } = state;
  if (flights.length >= world.shape.inFlight || walk.step.ask === null || toSend > walk.step.ask.to) {
    goOn(world, state);
    return;
  }
  if (world.shape.lateSends && flights.length > 0) goOn(world, state);
  const sent = { ...state, toSend: toSend + 1, tick: tick + 1 };
  const shown = world.lists.show(list, toSend);
  const flight = { page: toSend, sent: tick + 1, shown, list };
  send(world, { ...sent, flights: [...flights, flight] });
  if (list.changesLeft > 0) send(world, { ...sent, flights: [...flights, { ...flight, shown: null }] });
}

/** Whatever may happen next: an answer arrives, or the list changes and is read. */
function goOn(world: World, state: State): void {
  let waiting = 0;
  for (const flight of state.flights) {
    if (flight.shown === null) waiting++;
    else receive(world, state, { ...flight, shown: flight.shown });
  }
  if (waiting === 0) return;
  const all = 2 ** waiting - 1;
  for (const list of world.lists.changed(state.list)) {
    // Where this was the last change, anyone who waits for one has waited for this.
    for (let readers = list.changesLeft === 0 ? all : 1; readers <= all; readers++)
      goOn(world, { ...state, list, flights: readBy(world, { flights: state.flights, list, readers }) });
  }
}

interface Reading {
  readonly flights: readonly Flight[];
  readonly list: ListState;
  /** One bit for each flight that waits. */
  readonly readers: number;
}

function readBy({ lists }: World, { flights, list, readers }: Reading): Flight[] {
  let bits = readers;
  return flights.map((flight) => {
    if (flight.shown !== null) return flight;
    const reads = (bits & 1) === 1;
    bits >>= 1;
    return reads ? { ...flight, list, shown: lists.show(list, flight.page) } : flight;
  });
}

function receive(world: World, state: State, flight: Flight & { readonly shown: Shown }): void {
  const tick = state.tick + 1;
  const { page, sent, shown, list } = flight;
  const flights = state.flights.filter((other) => other.sent !== sent);
  const arrived = [...state.arrived, { page, sent, answered: tick, shown, list }];
  land(world, { ...state, tick, flights, arrived });
}

/** Lands what has arrived and has its turn. */
function land(world: World, state: State): void {
  const turn = state.arrived.find(({ page }) => page === state.toLand);
  if (turn === undefined) {
    send(world, state);
    return;
  }
  const walk = advanced(world, state.walk, turn.shown);
  if (walk === null) {
    world.figures.refused++;
    endSweep(world, { ...state, flights: [], arrived: [] }, false);
    return;
  }
  const { list, shown } = turn;
  const log = [...state.log, { list, shown, sighting: sighting(world, state, { turn, walk }) }];
  const arrived = state.arrived.filter((other) => other !== turn);
  const next = { ...state, walk, log, arrived, toLand: state.toLand + 1 };
  if (walk.step.ask === null) endSweep(world, next, true);
  else if (walk.step.ask === state.walk.step.ask) land(world, next);
  else send(world, { ...next, toSend: walk.step.ask.from, toLand: walk.step.ask.from });
}

/** The walk after a response; null where it refuses to go on. */
function advanced({ advanced: cache }: World, walk: PageWalk, shown: Shown): PageWalk | null {
  let known = cache.get(walk);
  if (known === undefined) cache.set(walk, (known = new Map<Shown, PageWalk | null>()));
  const before = known.get(shown);
  if (before !== undefined) return before;
  let next: PageWalk | null = null;
  try {
    next = nextStep(walk, shown);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
  }
  known.set(shown, next);
  return next;
}

interface Landing {
  readonly turn: Arrived;
  readonly walk: PageWalk;
}

function sighting({ shape }: World, { sweep }: State, { turn, walk }: Landing): Sighting {
  const { page, sent, answered, shown } = turn;
  const rows = shown.rows.length;
  const hasMeta = shape.proof === 'meta';
  const end = hasMeta ? walk.end : provenEnd({ page, rows, meta: NO_META, repeated: null }, shape.perPage);
  const total = hasMeta ? shown.meta.total : null;
  return { sweep, sent, answered, page, rows, ids: shown.ids, endRows: end?.rows ?? null, total };
}

function endSweep(world: World, state: State, isComplete: boolean): void {
  const { shape, figures } = world;
  judge(world, state);
  const isWhole = state.isWhole && isComplete;
  const again = { ...state, isWhole, toSend: 1, toLand: 1, flights: [], arrived: [] };
  if (shape.closing && isComplete && !state.isClosing) {
    const walk = reopened(state.walk);
    const from = walk.step.ask?.from ?? 1;
    send(world, { ...again, walk, isClosing: true, toSend: from, toLand: from });
    return;
  }
  if (state.sweep < shape.sweeps) {
    send(world, { ...again, walk: world.first, sweep: state.sweep + 1, isClosing: false });
    return;
  }
  figures.histories++;
  if (isWhole && isMissedByAll(world, state)) figures.usualRuleWrong++;
}

/** One object for each walk, so that what follows from it is found again. */
const reopenedWalks = new WeakMap<PageWalk, PageWalk>();

function reopened(walk: PageWalk): PageWalk {
  const known = reopenedWalks.get(walk) ?? reopenWalk(walk);
  reopenedWalks.set(walk, known);
  return known;
}

function judge({ figures, known, hooks }: World, { log }: State): void {
  const sightings = hooks.chooseSightings?.(log) ?? log.map((entry) => entry.sighting);
  const verdict = certify(sightings, known);
  figures.verdicts++;
  if (!verdict.certified) {
    if (verdict.reason === 'too_many_rows') figures.alarms++;
    return;
  }
  figures.certificates++;
  const truth = log[sightings.indexOf(verdict.point)]?.list.rows ?? [];
  if (verdict.size !== truth.length || !truth.every((row) => verdict.isInList(String(row)))) figures.wrong++;
}

/** Whether a row of the beginning is in the list, and was on no page at all. */
function isMissedByAll({ shape }: World, { list, log }: State): boolean {
  return list.rows.some((row) => row <= shape.rows && !log.some(({ shown }) => shown.rows.includes(row)));
}
