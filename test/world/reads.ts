import { recordAnswer, spoiltRead, type Answer, type Outcome } from './answers.ts';
import { keptMs, listedRows, singleInstead } from './lasting.ts';
import { isOut, outageAnswer } from './lateness.ts';
import { liedPage } from './lies.ts';
import { listAnswer } from './listed.ts';
import type { Records, Row } from './records.ts';
import { recordsOf, type Inside, type Request } from './service.ts';
import { singleRow } from './spelled.ts';

const TROUBLED = 0.08;
const KEPT_MS = 120_000;

/** Answers a GET, unless the service is down. */
export const read = (inside: Inside, request: Request, atMs: number): Outcome =>
  isOut(inside.outage, atMs) ? outageAnswer(inside.personality, atMs) : readUp(inside, request, atMs);

/** Answers it: what is there, as a replica or a cache shows it, or something else instead. */
function readUp(inside: Inside, request: Request, atMs: number): Outcome {
  const { target, isAfresh = false } = request;
  const { personality, random, kept } = inside;
  const key = keptAs(request);
  const last = kept.get(key);
  if (last !== undefined && isKeptLong(inside, target, { isAfresh, ageMs: atMs - last.atMs, atMs }))
    return personality.keeping === 'for hours, with Age' ? aged(last.answer, atMs - last.atMs) : last.answer;
  if (personality.cache !== 'none' && last && atMs - last.atMs < KEPT_MS && random.chance(0.4)) {
    noteStale(inside, target, { fromMs: last.atMs, atMs });
    return last.answer;
  }
  const answer = truth(inside, new URL(target, 'http://service'), atMs);
  kept.set(key, { atMs, answer });
  const isSpoilt = !inside.isCalm && personality.reads !== 'answered' && random.chance(TROUBLED);
  return isSpoilt ? spoiltRead(answer, { personality, random, atMs }) : answer;
}

/** No cache shows one user what it has kept for another. */
const keptAs = ({ target, isOfOther }: Request): string =>
  isOfOther === true ? `${target} of another user` : target;

function noteStale(
  { kinds, records, stalePages }: Inside,
  target: string,
  { fromMs, atMs }: { readonly fromMs: number; readonly atMs: number },
): void {
  const kind = kinds.find(({ list }) => target.split('?')[0] === list.path)?.name ?? '';
  const actions = records.get(kind)?.actions ?? [];
  if (actions.some((action) => action.is === 'deleted' && action.atMs > fromMs && action.atMs <= atMs))
    stalePages.push({ kind, atMs });
}

interface Keeping {
  readonly isAfresh: boolean;
  readonly ageMs: number;
  readonly atMs: number;
}

/** Pages alone are kept for hours, and by some caches only until somebody asks afresh. */
function isKeptLong(inside: Inside, target: string, { isAfresh, ageMs, atMs }: Keeping): boolean {
  const { personality, kinds } = inside;
  if (isAfresh && personality.keeping === 'for hours, unless asked afresh') return false;
  const isList = kinds.some(({ list }) => target === list.path || target.startsWith(`${list.path}?`));
  return isList && ageMs < keptMs(inside, target, atMs);
}

const aged = (answer: Answer, ageMs: number): Answer => ({
  ...answer,
  headers: { ...answer.headers, age: String(Math.ceil(ageMs / 1_000)) },
});

function truth(inside: Inside, { pathname, searchParams }: URL, atMs: number): Answer {
  const { personality, kinds, changedMs } = inside;
  const list = kinds.find((kind) => kind.list.path === pathname);
  if (list === undefined) return oneRecord(inside, pathname, { atMs, ofMs: atMs - lagOf(inside, 'records') });
  const perPage = searchParams.get('per_page');
  const asked = {
    page: Number(searchParams.get('page') ?? 1),
    perPage: perPage === null ? null : Number(perPage),
  };
  const request = { ...asked, ofMs: atMs - lagOf(inside, 'lists'), changedMs };
  const shown = shownRecords(inside, list.name, atMs);
  const answer = listAnswer(shown, request, {
    personality,
    random: inside.random,
    turn: inside.lasting.turns++,
  });
  const { lie } = inside;
  return lie === null || inside.isCalm ? answer : liedPage(answer, lie, { page: asked.page, atMs });
}

/** The records as lists show them. */
function shownRecords(inside: Inside, kind: string, atMs: number): Records {
  const records = recordsOf(inside, kind);
  const shown = (ms: number): readonly Row[] => listedRows(inside, records, ms, atMs);
  const rows = inside.isCalm ? undefined : inside.lie?.rows;
  return { ...records, at: (ms) => (rows === undefined ? shown(ms) : rows(shown(ms), atMs)) };
}

/** A misprinted path has nothing here. */
function oneRecord(
  inside: Inside,
  path: string,
  { atMs, ofMs }: { readonly atMs: number; readonly ofMs: number },
): Answer {
  const kind = inside.kinds.find(
    ({ retrieve }) =>
      retrieve?.misprint === undefined && path.startsWith(retrieve?.path.replace(':id', '') ?? '?'),
  );
  const id = path.split('/').at(-1) ?? '';
  if (kind === undefined) return recordAnswer(undefined, inside.personality);
  const isShown = shownRecords(inside, kind.name, atMs)
    .at(ofMs)
    .some((row) => row.id === id);
  const lied = inside.isCalm ? null : inside.lie?.record?.(atMs, isShown);
  const records = recordsOf(inside, kind.name);
  const row = records.find(id, ofMs);
  const shown = row && singleRow(row, kind, inside.personality, inside.lasting.looks++);
  return lied ?? singleInstead(inside, records, id, atMs) ?? recordAnswer(shown, inside.personality);
}

/** How far behind the replica is that answers this request. */
function lagOf({ personality: { replica }, random, lagMs }: Inside, what: 'lists' | 'records'): number {
  if (!replica.startsWith(what) && !replica.startsWith('both')) return 0;
  return replica.endsWith('unevenly') ? random.integer(0, lagMs) : lagMs;
}
