import { certify, type Sighting } from '../../src/diff/certify.ts';
import { SourceError } from '../../src/source/http/errors.ts';
import { nextStep, reopenWalk, startWalk } from '../../src/source/paging/page-walk.ts';
import type { PageRange, PageWalk } from '../../src/source/paging/walk-steps.ts';
import { createListModel, type Answer, type ListModel, type Motion } from './list-model.ts';

export interface Scene extends Motion {
  readonly inFlight: number;
}

export interface LandedAnswer extends Answer {
  /** As the program keeps it. */
  readonly sighting: Sighting;
}

/** The input of the certificate; a planted bug changes it. */
export interface ReportedAnswers {
  readonly responses: readonly Sighting[];
  readonly known: readonly string[];
}

export interface RandomRun {
  /** Of each sweep after the first: what was landed until then, and the rows known from before all of it. */
  readonly stages: readonly { readonly landed: readonly LandedAnswer[]; readonly known: readonly string[] }[];
  /** Rows of the beginning that are there at the end, though no sweep but the first has shown them. */
  readonly missedThrice: number;
}

const SWEEPS = 4;

/** Four sweeps over a moving list, with changes and a read of its head before each, and a closing read after some. */
export function runSweeps(seed: number, scene: Scene): RandomRun {
  const list = createListModel(seed, { ...scene, rate: scene.rate * scene.inFlight });
  const known = list.rows().map(String);
  const landed: LandedAnswer[] = [];
  const stages: { landed: readonly LandedAnswer[]; known: readonly string[] }[] = [];
  for (let sweep = 1; sweep <= SWEEPS; sweep++) {
    if (sweep <= 2 || seed % 2 === 0) list.change(3);
    if (seed % 3 === 0) landed.push(readHead(list));
    const walk = carryOut(list, scene, { sweep, landed, walk: START });
    if (walk !== null && seed % 5 === 0) carryOut(list, scene, { sweep, landed, walk: reopenWalk(walk) });
    const isKept = ({ sighting }: LandedAnswer): boolean => (sighting.sweep ?? sweep) > sweep - 3;
    if (sweep > 1) stages.push({ landed: landed.filter(isKept), known });
  }
  const late = landed.filter(({ sighting }) => sighting.sweep !== 1);
  const seen = new Set(late.flatMap(({ shown }) => shown.rows));
  const missed = list.rows().filter((row) => known.includes(String(row)) && !seen.has(row));
  return { stages, missedThrice: missed.length };
}

const START = startWalk({ where: 'GET /list', thorough: false });

function readHead(list: ListModel): LandedAnswer {
  list.send(1);
  return landedAs(list.receive(), null, null);
}

interface Reading {
  readonly sweep: number;
  readonly landed: LandedAnswer[];
  readonly walk: PageWalk;
}

/** Asks as the walk says and lands in its order; null where it refused to go on. */
function carryOut(list: ListModel, scene: Scene, { sweep, landed, walk: start }: Reading): PageWalk | null {
  let walk = start;
  while (walk.step.ask !== null) {
    for (const answer of inPageOrder(list, walk.step.ask, scene.inFlight)) {
      const next = advanced(walk, answer);
      if (next === null) {
        list.abort();
        return null;
      }
      walk = next;
      landed.push(landedAs(answer, sweep, walk.end?.rows ?? null));
    }
  }
  return walk;
}

/** Asks for pages side by side, and hands the answers out in the order of pages. */
function* inPageOrder(list: ListModel, { from, to }: PageRange, inFlight: number): Generator<Answer> {
  const arrived = new Map<number, Answer>();
  let toSend = from;
  let underWay = 0;
  for (let page = from; page <= to;) {
    const turn = arrived.get(page);
    if (turn) {
      yield turn;
      page++;
      continue;
    }
    for (; underWay < inFlight && toSend <= to; underWay++) list.send(toSend++);
    const answer = list.receive();
    underWay--;
    arrived.set(answer.page, answer);
  }
}

function advanced(walk: PageWalk, { shown }: Answer): PageWalk | null {
  try {
    return nextStep(walk, shown);
  } catch (error) {
    if (error instanceof SourceError) return null;
    throw error;
  }
}

function landedAs(answer: Answer, sweep: number | null, endRows: number | null): LandedAnswer {
  const { page, sent, answered, shown } = answer;
  const { ids, rows, meta } = shown;
  return {
    ...answer,
    sighting: { sweep, sent, answered, page, ids, rows: rows.length, endRows, total: meta.total },
  };
}

export interface RandomFigures {
  runs: number;
  verdicts: number;
  certificates: number;
  /** Certificates that name other rows than the list had. */
  wrong: number;
  /** Runs in which a row that is there was absent from three sweeps running. */
  usualRuleWrong: number;
}

export type Bug = (landed: readonly LandedAnswer[], known: readonly string[]) => ReportedAnswers;

/** @param bug Replaces the input of the certificate. */
export function judgeRuns(seeds: number, scenes: readonly Scene[], bug: Bug = reportAll): RandomFigures {
  const figures = { runs: 0, verdicts: 0, certificates: 0, wrong: 0, usualRuleWrong: 0 };
  for (const scene of scenes) {
    for (let seed = 1; seed <= seeds; seed++) {
      const { stages, missedThrice } = runSweeps(seed, scene);
      figures.runs++;
      if (missedThrice > 0) figures.usualRuleWrong++;
      for (const { landed, known } of stages) judge(figures, landed, bug(landed, known));
    }
  }
  return figures;
}

function reportAll(landed: readonly LandedAnswer[], known: readonly string[]): ReportedAnswers {
  return { responses: landed.map(({ sighting }) => sighting), known };
}

function judge(
  figures: RandomFigures,
  landed: readonly LandedAnswer[],
  { responses, known }: ReportedAnswers,
): void {
  const verdict = certify(responses, known);
  figures.verdicts++;
  if (!verdict.certified) return;
  figures.certificates++;
  const truth = landed[responses.indexOf(verdict.point)]?.list.rows ?? [];
  if (verdict.size !== truth.length || !truth.every((row) => verdict.isInList(String(row)))) figures.wrong++;
}
