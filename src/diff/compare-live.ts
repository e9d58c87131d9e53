import type { Spans } from './spans.ts';

/**
 * Begins to compare the ids of a mirror's live rows with the ids in list responses; takes a byte for each of the latter.
 * @param lacks Whether a list does not have a record; null where nothing is concluded.
 * @param began The tick at which the present sweep began.
 */
export function compareLive(spans: Spans, lacks: ((id: string) => boolean) | null, began: number) {
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
        if (lacks?.(id) === true) outside.push(id);
      }
    },
    /** Live rows that the list does not have. */
    outside: (): readonly string[] => outside,
    /** Ids that the present sweep has shown, and that no live row has. */
    missing: (): readonly string[] =>
      ids.idsWhere((index) => isLive[index] === 0 && lastSent(index) >= began),
  };
}
