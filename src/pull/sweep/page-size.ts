import type { Queryable, Transaction } from '../../db/session/session.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/time/zone-offset.ts';
import { deleteMeta, readMeta, writeMeta } from '../../store/kinds/meta.ts';
import { latestReadings } from '../../store/kinds/kind-standing.ts';
import type { PullParts } from '../parts.ts';
import type { ReadingEnd } from './read-list.ts';
import type { Tally } from '../land/tally.ts';
import type { ListedKind } from '../../catalog/kind.ts';

/**
 * Sets the page size of a kind's list, where it is not that of the settings.
 * @param isSweep A sweep alone takes another size, and after a day that of the settings: page numbers mean those of the latest sweep.
 */
export async function restorePageSize(parts: PullParts, kind: string, isSweep: boolean): Promise<void> {
  const { answered } = parts.source.pageSizes;
  answered.delete(kind);
  const stored = await readSizes(parts.session, kind);
  if (stored === null) return;
  if (!isSweep) answered.set(kind, stored.latest);
  else if (isCurrent(stored, parts)) answered.set(kind, stored.next);
}

/**
 * Chooses the page size of a kind's next sweep: half, where a page took too long to make, or where two sweeps in turn missed the same
 * number of rows, and showed others twice. Where many records are alike in what the list is sorted by, a service may order them anew for each page; pages that
 * begin elsewhere show others. When halving no longer helps, it is the size of the settings again.
 */
export async function saveNextPageSize(
  tx: Transaction,
  parts: PullParts,
  { kind, tally, ending }: { readonly kind: ListedKind; readonly tally: Tally; readonly ending: ReadingEnd },
): Promise<void> {
  const { wanted, answered } = parts.source.pageSizes;
  const latest = answered.get(kind.name) ?? wanted;
  let next = latest;
  if (kind.list.paging === 'documented') {
    const rows = tally.firstPageRows(); // The service may send fewer than it was asked for.
    if (tally.isDoubled() && (await hasMissedAsMany(tx, kind.name, ending)))
      next = halfOf(Math.min(latest, rows), LEAST_OF_TIED, wanted);
    else if (ending.state !== 'complete' && ending.isTooSlow)
      next = halfOf(rows === 0 ? 0 : latest, wanted / 4, wanted);
  }
  await saveSizes(tx, parts, kind.name, { latest, next });
}

/** Keeps the sizes where one is not that of the settings, and since when. */
async function saveSizes(
  tx: Transaction,
  parts: PullParts,
  kind: string,
  { latest, next }: Pick<Sizes, 'latest' | 'next'>,
): Promise<void> {
  const { wanted } = parts.source.pageSizes;
  if (latest === wanted && next === wanted) return deleteMeta(tx, `page_size.${kind}`);
  const stored = await readSizes(tx, kind);
  const known = stored !== null && isCurrent(stored, parts) ? stored : null;
  if (known?.latest === latest && known.next === next) return;
  const message = 'the list is read in smaller pages: larger ones are refused, take too long or hide records';
  parts.logger.warn({ kind, pageSize: next, wanted }, message);
  const since = known?.since ?? formatInstant(parts.clock.now());
  await writeMeta(tx, `page_size.${kind}`, [latest, wanted, since, next].join('/'));
}

const LEAST_OF_TIED = 5;

const halfOf = (size: number, least: number, otherwise: number): number =>
  size / 2 < least ? otherwise : Math.floor(size / 2);

async function hasMissedAsMany(tx: Transaction, kind: string, ending: ReadingEnd): Promise<boolean> {
  const { reason, detail } = ending;
  if (reason !== 'rows_unseen') return false;
  const [before] = await latestReadings(tx, kind, 1);
  return before?.reason === reason && before.detail === detail;
}

type Sizes = NonNullable<Awaited<ReturnType<typeof readSizes>>>;

/** The sizes of a kind's latest sweep and of its next one, the settings' at that time, and since when they differ; null = they do not. */
async function readSizes(db: Queryable, kind: string) {
  const stored = await readMeta(db, `page_size.${kind}`);
  if (stored === null) return null;
  const [latest, setting, since = '', next = latest] = stored.split('/');
  return { latest: Number(latest), setting: Number(setting), since, next: Number(next) };
}

const isCurrent = ({ setting, since }: Sizes, { source, clock }: PullParts): boolean =>
  setting === source.pageSizes.wanted && since >= formatInstant(new Date(clock.now().getTime() - DAY_MS));
