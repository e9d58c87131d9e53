import { rowIdentity, type Reading } from './reading.ts';
import type { Asked } from './true-answers.ts';

export interface Sparing {
  /** Whether an answer is malformed rather than a well-formed part of a conspiracy. */
  allows(asked: Asked, reading: Reading, truth: Reading): boolean;
}

/**
 * Two proofs, a grace apart, are a proof: a service that says twice, in so many words, that a record is gone has lied,
 * and no reader could notice. So each record is spared a second well-formed lie about its being there.
 */
export function createSparing(): Sparing {
  const denied = new Set<string>();
  const hidden = new Set<string>();
  const unheard = new Map<string, number>();
  const isOnce = (set: Set<string>, keys: readonly string[]): boolean => {
    if (keys.some((key) => set.has(key))) return false;
    for (const key of keys) set.add(key);
    return true;
  };
  return {
    allows: ({ served, id }, reading, truth) => {
      const { name } = served;
      if (id !== null) {
        unheard.set(name, (unheard.get(name) ?? 0) + 1);
        return reading.is !== 'gone' || truth.is === 'gone' || isOnce(denied, [`${name} ${id}`]);
      }
      const missing = hiddenIds(reading, truth).map((hiddenId) => `${name} ${hiddenId}`);
      // Where records can be asked for one by one, the list alone buries nobody.
      const isSole = name === 'punches' || (unheard.get(name) ?? 0) >= 3;
      if (isSole) return isOnce(hidden, missing);
      for (const key of missing) hidden.add(key);
      return true;
    },
  };
}

/** The ids that the true answer shows and this one does not. */
function hiddenIds(reading: Reading, truth: Reading): string[] {
  const shown = new Set(idsOf(reading));
  return reading.is === 'list' ? idsOf(truth).filter((id) => !shown.has(id)) : [];
}

function idsOf(reading: Reading): string[] {
  if (reading.is !== 'list') return [];
  return reading.rows.map(rowIdentity).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}
