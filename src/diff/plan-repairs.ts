import type { Change } from './judge-page.ts';
import type { Certificate } from './certify.ts';
import type { Spans } from './spans.ts';

/**
 * Begins to compare the ids of a mirror's live rows with those that list responses have shown; takes a byte for each of these.
 * @param certificate Null where the list is not known exactly.
 * @param began The tick at which the present sweep began.
 */
export function compareLive({ ids, lastSent }: Spans, certificate: Certificate | null, began: number) {
  const isLive = new Uint8Array(ids.size());
  const outside: string[] = [];
  return {
    /** Takes ids of live rows, with commas between. */
    take: (text: string): void => {
      if (text === '') return;
      for (const id of text.split(',')) {
        const index = ids.find(id);
        if (index >= 0) isLive[index] = 1;
        if (certificate !== null && !certificate.lists(id) && !certificate.showedSince(id)) outside.push(id);
      }
    },
    /** Live rows that a certified list does not have, and that nothing has shown since; none where no list is certified. */
    outside: (): readonly string[] => outside,
    /** Ids that the present sweep has shown, and that no live row has. */
    missing: (): readonly string[] => {
      const missing: string[] = [];
      for (let index = 0; index < isLive.length; index++)
        if (isLive[index] === 0 && lastSent(index) >= began) missing.push(ids.idOf(index));
      return missing;
    },
  };
}

/** The stored facts about a record, without its row: another writer may have altered the row. */
export interface RecordFacts {
  /** The latest change event that is kept; null where none is. */
  readonly lastChange: Change | null;
  /** Its deletion was concluded, and the list of absences still holds it. */
  readonly isProvenGone: boolean;
  /** An earlier list response showed it, or an event or an outbox entry names it. */
  readonly wasLanded: boolean;
  /** It was seen, but perhaps never landed: it was quarantined, or a write of ours was changing it at the time. */
  readonly mayNeverHaveLanded: boolean;
  /** Events as old as its row may have been forgotten. */
  readonly mayBeForgotten: boolean;
}

/**
 * Judges a record that the list shows and that has no live row. If the facts allow both, the service created it: a surplus
 * event can be recognised, a missing one cannot.
 */
export function judgeListed(
  row: 'none' | 'tombstone',
  facts: RecordFacts,
): 'created' | 'restored' | 'returned' {
  const { lastChange, isProvenGone, wasLanded, mayNeverHaveLanded, mayBeForgotten } = facts;
  if (lastChange !== null) return lastChange === 'deleted' ? 'restored' : 'returned';
  if (isProvenGone) return 'restored';
  if (row === 'tombstone' && mayBeForgotten) return 'restored';
  const hadRow = row === 'tombstone' || !mayNeverHaveLanded; // A record that was shown and has a row has landed.
  return wasLanded && hadRow ? 'returned' : 'created';
}

/** Judges a live row that the list does not have; if the facts allow both, it has disappeared and needs a proof. */
export function judgeUnlisted(facts: RecordFacts): 'disappeared' | 'inserted' | 'undeleted' {
  const { lastChange, isProvenGone, wasLanded } = facts;
  if (lastChange !== null) return lastChange === 'deleted' ? 'undeleted' : 'disappeared';
  if (isProvenGone) return 'undeleted';
  return wasLanded ? 'disappeared' : 'inserted';
}

/** Whether another writer made the tombstone of an unlisted record: then its deletion is still to be proven. */
export function isFalseTombstone(facts: RecordFacts): boolean {
  const { lastChange, isProvenGone, wasLanded, mayBeForgotten } = facts;
  if (lastChange !== null) return lastChange !== 'deleted';
  return !isProvenGone && wasLanded && !mayBeForgotten;
}
