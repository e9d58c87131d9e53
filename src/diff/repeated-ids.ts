import type { Sighting } from './certify.ts';
import { parseIds } from './page-ids.ts';

const MAX_REPORTED = 100;

/**
 * Finds the records that several pages of a list show, in the last reading of each and in the one before: between two readings of a
 * moving list a row may go from one page to the next. They are returned as issues.
 * @param began The sweep whose pages count; `sightings` are in the order of answers.
 */
export function findRepeatedIds(
  sightings: readonly Pick<Sighting, 'page' | 'ids' | 'sweep'>[],
  began: number,
) {
  const readings = new Map<number, readonly string[]>();
  for (const { page, ids } of sightings) readings.set(page, [ids, ...(readings.get(page) ?? [])].slice(0, 2));
  const ofSweep = sightings.filter((sighting) => sighting.sweep === began);
  const present = new Set(ofSweep.map((sighting) => sighting.page));
  const pagesOf = new Map<string, number[]>();
  for (const [page, [last = '[]', before = '[]']] of readings) {
    const earlier = new Set(parseIds(before));
    for (const id of present.has(page) ? new Set(parseIds(last)) : [])
      if (earlier.has(id)) pagesOf.set(id, [...(pagesOf.get(id) ?? []), page]);
  }
  return [...pagesOf]
    .filter(([, pages]) => pages.length > 1)
    .map(([recordId, pages]) => ({ recordId, field: null, detail: `pages ${pages.join(', ')}` }))
    .slice(0, MAX_REPORTED);
}
