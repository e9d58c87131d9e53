/** A set with an overlay for a transaction, so that the set need not be copied. */
export interface LayeredSet {
  has(value: string): boolean;
  add(value: string): void;
  /** The transaction's overlay; call `keep` after the commit. */
  draft(): LayeredSet & { keep(): void };
}

export function createLayeredSet(values: ReadonlySet<string>): LayeredSet {
  return layer(new Set(values), { has: () => false });
}

function layer(own: Set<string>, below: Pick<LayeredSet, 'has'>): LayeredSet {
  const self: LayeredSet = {
    has: (value) => own.has(value) || below.has(value),
    add: (value) => {
      own.add(value);
    },
    draft: () => {
      const added = new Set<string>();
      const keep = (): void => {
        for (const value of added) own.add(value);
      };
      return { ...layer(added, self), keep };
    },
  };
  return self;
}
