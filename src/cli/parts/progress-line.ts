import type { Progress } from '../../pull/run/parts.ts';

/** How far the reading of one kind is; instants are milliseconds of a clock that never runs backwards. */
export interface KindProgress extends Progress {
  /** The kind's place among the kinds of the command, from 1. */
  readonly place: number;
  readonly startedMs: number;
  /** When the last answer had landed. */
  readonly latestMs: number;
  /** When the next kind began; null while this one is being read. */
  readonly endedMs: number | null;
}

/** An idle time beyond this is told, in milliseconds. */
const TOLD_WAIT_MS = 3_000;

/** One line for a kind: rows, rate and time left, and which of how many kinds it is; `of` null = unknown. */
export function progressLine(kind: KindProgress, nowMs: number, of: number | null): string {
  const elapsedMs = (kind.endedMs ?? nowMs) - kind.startedMs;
  const place = of === null || of === 1 ? '' : ` (${kind.place} of ${of})`;
  return [`${kind.kind}${place}`, ...countsOf(kind), ...paceOf(kind, { elapsedMs, nowMs })].join('  ');
}

function countsOf({ rows, pages, lastPage }: KindProgress): string[] {
  const ofPages = lastPage === null ? `page ${pages}` : `page ${pages} of ${Math.max(pages, lastPage)}`;
  return [...(rows === undefined ? [] : [counted(rows, 'row')]), ...(pages > 0 ? [ofPages] : [])];
}

interface Elapsed {
  readonly elapsedMs: number;
  readonly nowMs: number;
}

function paceOf(kind: KindProgress, { elapsedMs, nowMs }: Elapsed): string[] {
  if (kind.endedMs !== null) return [secondsText(elapsedMs)];
  const rate = elapsedMs > 0 ? Math.round(((kind.rows ?? 0) * 1000) / elapsedMs) : 0;
  const rateText = rate > 0 ? [counted(rate, 'row') + '/s'] : [];
  if (kind.isRead === true) return [...rateText, 'comparing with the mirror'];
  const idleMs = nowMs - kind.latestMs;
  if (isUnderWay(kind) && idleMs >= TOLD_WAIT_MS)
    return [...rateText, `waiting for the service, ${secondsText(idleMs)}`];
  const leftMs = leftOf(kind, elapsedMs);
  return [...rateText, ...(leftMs === null ? [] : [`${secondsText(leftMs)} left`])];
}

const isUnderWay = ({ pages, lastPage }: KindProgress): boolean =>
  pages === 0 || lastPage === null || pages < lastPage;

/** Pages take as long as those before them did. */
function leftOf({ pages, lastPage }: KindProgress, elapsedMs: number): number | null {
  if (pages === 0 || lastPage === null || pages >= lastPage) return null;
  return (elapsedMs / pages) * (lastPage - pages);
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

function secondsText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Notes what a reading tells: a kind that is told of for the first time begins, and the one before it has ended. */
export function notedProgress(
  kinds: readonly KindProgress[],
  progress: Progress,
  nowMs: number,
): readonly KindProgress[] {
  const known = kinds.find(({ kind }) => kind === progress.kind);
  const startedMs = known?.startedMs ?? nowMs;
  const place = known?.place ?? kinds.length + 1;
  const noted: KindProgress = { ...progress, place, startedMs, latestMs: nowMs, endedMs: null };
  if (known !== undefined) return kinds.map((each) => (each === known ? noted : each));
  return [...kinds.map((each) => ({ ...each, endedMs: each.endedMs ?? nowMs })), noted];
}
