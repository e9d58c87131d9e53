/** A set that a transaction may add to on trial, without a copy of what is in it. */
export interface LayeredSet {
  has(value: string): boolean;
  add(value: string): void;
  /** What a transaction adds to; `keep` once it has landed. */
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
