import { randomFrom } from '../../sandbox/generate/draw.ts';
import { shownPage, type ListState, type Shown } from './list-states.ts';

/** How a list moves: what is inserted and moved where, how often, and whether its total is as old as it pleases. */
export interface Motion {
  readonly order: 'newest first' | 'by code' | 'ties';
  /** Changes per unit of time; an answer takes one such unit on average. */
  readonly rate: number;
  readonly isTotalCached: boolean;
}

export interface Answer {
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  readonly shown: Shown;
  /** The list as it was when the rows were read. */
  readonly list: Pick<ListState, 'rows'>;
}

/**
 * A list that changes at any instant while requests are under way. Rows and total are read at instants of their own, and the
 * total may be as old as it pleases: no history of the enumeration has that, and neither has a history of the world often
 * enough, so that a full last page or a bare total could be taken for the end of a list.
 *
 * It is a model of a list, not a service: it has no records, no answers and no clock but its own.
 */
export interface ListModel {
  readonly perPage: number;
  rows(): readonly number[];
  change(times: number): void;
  send(page: number): void;
  /** Lets time pass until the next answer is there. */
  receive(): Answer;
  /** Lets go of all requests under way. */
  abort(): void;
}

interface Request {
  readonly page: number;
  readonly sent: number;
  readonly readAt: number;
  readonly countAt: number;
  readonly arriveAt: number;
  read: { readonly view: readonly number[]; readonly rows: readonly number[] } | null;
  total: number | null;
}

interface Event {
  readonly at: number;
  readonly happen: () => Answer | null;
}

const PER_PAGE = 10;
/** Rows between which a list with ties has no order. */
const TIED = 7;

export function createListModel(seed: number, { order, rate, isTotalCached }: Motion): ListModel {
  const { integer, chance } = randomFrom('list', seed);
  let rows: readonly number[] = Array.from({ length: 57 + below(7) }, (_, index) => 63 - index);
  let nextId = 64;
  let now = 0;
  let tick = 0;
  let cachedTotal = rows.length;
  let nextChange = now + pause();
  let requests: Request[] = [];

  function below(limit: number): number {
    return integer(0, limit - 1);
  }

  function fraction(): number {
    return integer(0, 2 ** 32 - 1) / 2 ** 32;
  }

  function pause(): number {
    return -Math.log(1 - fraction()) / rate;
  }

  function changeOnce(): void {
    const kind = fraction();
    const from = below(rows.length);
    const row = rows[from];
    if (order === 'newest first' && kind < 0.5) rows = [nextId++, ...rows];
    else if (order !== 'newest first' && kind < 0.33)
      rows = rows.toSpliced(below(rows.length + 1), 0, nextId++);
    else if (order === 'newest first' || kind < 0.67) rows = rows.toSpliced(from, 1);
    else if (row !== undefined) rows = rows.toSpliced(from, 1).toSpliced(below(rows.length), 0, row);
  }

  /** The rows as one answer has them: the ones that tie come in any order. */
  function view(): readonly number[] {
    if (order !== 'ties') return rows;
    const groups = rows.map((row, index) => ({ row, group: Math.floor(index / TIED), draw: fraction() }));
    return groups.sort((a, b) => a.group - b.group || a.draw - b.draw).map(({ row }) => row);
  }

  function total(): number {
    if (!isTotalCached || chance(0.2)) cachedTotal = rows.length;
    return cachedTotal;
  }

  /** What happens next, and when. */
  function nextEvent(): Event {
    let first: Event = { at: nextChange, happen: change };
    const offer = (at: number, happen: () => Answer | null): void => {
      if (at < first.at) first = { at, happen };
    };
    for (const request of requests) {
      if (request.read === null) offer(request.readAt, () => read(request));
      if (request.total === null) offer(request.countAt, () => count(request));
      offer(request.arriveAt, () => arrive(request));
    }
    return first;
  }

  function change(): null {
    changeOnce();
    nextChange = now + pause();
    return null;
  }

  function read(request: Request): null {
    request.read = { view: view(), rows };
    return null;
  }

  function count(request: Request): null {
    request.total = total();
    return null;
  }

  function arrive(request: Request): Answer {
    requests = requests.filter((other) => other !== request);
    const { page, sent, read } = request;
    const onPage = read?.view.slice((page - 1) * PER_PAGE, page * PER_PAGE) ?? [];
    const shown = shownPage(onPage, { page, perPage: PER_PAGE, total: request.total ?? 0 });
    return { page, sent, answered: ++tick, shown, list: { rows: read?.rows ?? [] } };
  }

  return {
    perPage: PER_PAGE,
    rows: () => rows,
    change: (times) => {
      for (let time = 0; time < times; time++) changeOnce();
    },
    send: (page) => {
      const lasts = 0.3 - 0.7 * Math.log(1 - fraction());
      const within = (): number => now + fraction() * lasts;
      requests.push({
        page,
        sent: ++tick,
        readAt: within(),
        countAt: within(),
        arriveAt: now + lasts,
        read: null,
        total: null,
      });
    },
    receive: () => {
      for (;;) {
        const { at, happen } = nextEvent();
        now = at;
        const answer = happen();
        if (answer) return answer;
      }
    },
    abort: () => {
      requests = [];
    },
  };
}
