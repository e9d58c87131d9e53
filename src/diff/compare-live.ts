import type { Certificate } from './certify.ts';
import type { Spans } from './spans.ts';

/**
 * Begins to compare the ids of a mirror's live rows with the ids in list responses; takes a byte for each of the latter.
 * @param certificate Null where the list is not known exactly.
 * @param began The tick at which the present sweep began.
 */
export function compareLive(spans: Spans, certificate: Certificate | null, began: number) {
  const { ids, lastSent } = spans;
  const isLive = new Uint8Array(ids.size());
  const outside: string[] = [];
  return {
    /** Takes ids of live rows, with commas between. */
    take: (text: string): void => {
      if (text === '') return;
      for (const id of text.split(',')) {
        const index = ids.find(id);
        if (index >= 0) isLive[index] = 1;
        if (certificate !== null && !certificate.isInList(id) && !certificate.wasShownSince(id))
          outside.push(id);
      }
    },
    /** Live rows that a certified list does not have, and that nothing has shown since; none where no list is certified. */
    outside: (): readonly string[] => outside,
    /** Ids that the present sweep has shown, and that no live row has. */
    missing: (): readonly string[] =>
      ids.idsWhere((index) => isLive[index] === 0 && lastSent(index) >= began),
  };
}
