import { recordAnswer, spoiltRead } from './answers.ts';
import type { Answer, Outcome } from './answers.ts';
import { liedPage } from './lies.ts';
import { listAnswer } from './listed.ts';
import type { Records } from './records.ts';
import { recordsOf } from './service.ts';
import type { Inside } from './service.ts';

const TROUBLED = 0.08;
const KEPT_MS = 120_000;

/** Answers a GET: what is there, as a replica or a cache shows it, or something else instead. */
export function read(inside: Inside, target: string, atMs: number): Outcome {
  const { personality, random, kept } = inside;
  const last = kept.get(target);
  if (personality.cache !== 'none' && last && atMs - last.atMs < KEPT_MS && random.chance(0.4))
    return last.answer;
  const answer = truth(inside, new URL(target, 'http://service'), atMs);
  kept.set(target, { atMs, answer });
  const isSpoilt = !inside.isCalm && personality.reads !== 'answered' && random.chance(TROUBLED);
  return isSpoilt ? spoiltRead(answer, { personality, random, atMs }) : answer;
}

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
  const answer = listAnswer(shown, request, { personality, random: inside.random });
  const { lie } = inside;
  return lie === null || inside.isCalm ? answer : liedPage(answer, lie, { page: asked.page, atMs });
}

/** The records as lists show them. */
function shownRecords(inside: Inside, kind: string, atMs: number): Records {
  const records = recordsOf(inside, kind);
  const rows = inside.isCalm ? undefined : inside.lie?.rows;
  return rows === undefined ? records : { ...records, at: (ms) => rows(records.at(ms), atMs) };
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
  return lied ?? recordAnswer(recordsOf(inside, kind.name).find(id, ofMs), inside.personality);
}

/** How far behind the replica is that answers this request. */
function lagOf({ personality: { replica }, random, lagMs }: Inside, what: 'lists' | 'records'): number {
  if (!replica.startsWith(what) && !replica.startsWith('both')) return 0;
  return replica.endsWith('unevenly') ? random.integer(0, lagMs) : lagMs;
}
