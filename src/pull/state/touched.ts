import type { DirtyRows as Touches } from '../../mirror/records/dirty-row-store.ts';

/** The rows that were rewritten, each with its latest response; kept while a kind is swept. */
export interface Touched {
  /** The response that wrote the row last; 0 where none has. */
  lastWrite(id: string): number;
  isEmpty(): boolean;
  /** The latest response that wrote any row. */
  latest(): number;
  add(touches: Touches): void;
  /** The transaction's overlay, so that a rolled-back transaction leaves no trace. */
  draft(): TouchedDraft;
}

interface TouchedDraft extends Touched {
  /** The transaction has landed. */
  keep(): void;
}

export function createTouched(touches: Touches): Touched {
  const all = layer(new Map(), { lastWrite: () => 0, isEmpty: () => true, latest: () => 0 });
  all.add(touches);
  return all;
}

type Below = Pick<Touched, 'lastWrite' | 'isEmpty' | 'latest'>;

function layer(own: Map<string, number>, below: Below): Touched {
  let latest = below.latest();
  const self: Touched = {
    lastWrite: (id) => Math.max(own.get(id) ?? 0, below.lastWrite(id)),
    isEmpty: () => own.size === 0 && below.isEmpty(),
    latest: () => latest,
    add: (touches) => {
      for (const [id, response] of touches) {
        own.set(id, Math.max(own.get(id) ?? 0, response));
        latest = Math.max(latest, response);
      }
    },
    draft: () => {
      const added = new Map<string, number>();
      return {
        ...layer(added, self),
        keep: () => {
          self.add(added);
        },
      };
    },
  };
  return self;
}
