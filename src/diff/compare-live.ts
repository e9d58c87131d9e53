import type { Certificate } from './certify.ts';
import type { Spans } from './spans.ts';

/** Compares the ids of a mirror's live rows with the ids that list responses have shown. */
interface LiveComparison {
  /** Takes ids of live rows, with commas between. */
  readonly take: (ids: string) => void;
  /** Live rows that a certified list does not have, and that nothing has shown since; none where no list is certified. */
  readonly outside: () => readonly string[];
  /** Ids that the present sweep has shown, and that no live row has. */
  readonly missing: () => readonly string[];
}

interface ShownList {
  readonly spans: Spans;
  /** Null where the list is not known exactly. */
  readonly certificate: Certificate | null;
  /** The tick at which the present sweep began. */
  readonly began: number;
}

/** Begins a comparison; it takes a byte for each id that was shown. */
export function compareLive({ spans, certificate, began }: ShownList): LiveComparison {
  const { ids, lastSent } = spans;
  const isLive = new Uint8Array(ids.size());
  const outside: string[] = [];
  return {
    take: (text) => {
      if (text === '') return;
      for (const id of text.split(',')) {
        const index = ids.find(id);
        if (index >= 0) isLive[index] = 1;
        if (certificate !== null && !certificate.lists(id) && !certificate.showedSince(id)) outside.push(id);
      }
    },
    outside: () => outside,
    missing: () => {
      const missing: string[] = [];
      for (let index = 0; index < isLive.length; index++)
        if (isLive[index] === 0 && lastSent(index) >= began) missing.push(ids.idOf(index));
      return missing;
    },
  };
}
