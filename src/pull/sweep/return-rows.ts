import { idsOf } from '../../store/sightings/page-store.ts';
import { readRecordsWithoutRow } from '../../store/records/issue-store.ts';
import { readSightings } from '../../store/sightings/sighting-store.ts';
import { liveRowsOf } from '../../store/records/tombstone-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import { requireTenant } from '../land/guard-source.ts';
import { landArriving } from '../land/land-pages.ts';
import type { PullParts } from '../run/parts.ts';
import type { ListReading } from './read-list.ts';
import type { Sweep } from '../run/sweep.ts';

/** Records of the list that still have no live row. */
export interface WithoutRow {
  /** Records that cannot become rows; each has an issue. */
  readonly quarantined: number;
  readonly missing: number;
}

/**
 * Restores rows that another writer has removed: reads the pages that show their records again, and parses them in
 * full.
 *
 * If the service fails meanwhile, the next pull tries again.
 */
export async function returnRows(
  parts: PullParts,
  reading: ListReading,
  missing: readonly string[],
): Promise<WithoutRow> {
  if (missing.length === 0) return { quarantined: 0, missing: 0 };
  const { name } = reading.kind;
  const before = await readRecordsWithoutRow(parts.session, name);
  const wanted = new Set(missing.filter((id) => !before.has(id)));
  if (wanted.size > 0) await readAgain(parts, reading, wanted);
  const live = new Set((await liveRowsOf(parts.session, name, missing)).map(({ id }) => id));
  const left = missing.filter((id) => !live.has(id));
  const withoutRow = await readRecordsWithoutRow(parts.session, name);
  const quarantined = left.filter((id) => withoutRow.has(id)).length;
  return { quarantined, missing: left.length - quarantined };
}

/** Reads the pages again on which this sweep has seen the records. */
async function readAgain(parts: PullParts, reading: ListReading, wanted: ReadonlySet<string>): Promise<void> {
  const { kind, sweep, tally } = reading;
  const { claim, tenants, ticks, lease } = sweep;
  const numbers = new Set<number>();
  for (const { page, ids, answered } of await readSightings(parts.session, kind.name, sweep.pages)) {
    if (answered <= lease.tick || numbers.has(page)) continue;
    if ([...idsOf(ids)].some((id) => wanted.has(id))) numbers.add(page);
  }
  const ranges: { from: number; to: number }[] = []; // Neighbouring pages are read side by side.
  for (const page of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.to === page - 1) last.to = page;
    else ranges.push({ from: page, to: page });
  }
  const afresh: Sweep = { ...sweep, began: null, pages: new Map() }; // Without stored pages all are parsed in full.
  try {
    for (const range of ranges) {
      const pages = parts.source.pages(kind, range, { tick: ticks.next, signal: parts.signal });
      const responses = requireTenant(pages, { parts, kind, claim, tenants });
      await landArriving(parts, { sweep: afresh, tally, responses });
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    parts.logger.warn({ kind: kind.name, err: error }, 'rows that are missing could not be read again');
  }
}
