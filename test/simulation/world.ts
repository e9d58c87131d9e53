import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import { createLedger } from './ledger.ts';
import type { Ledger, Presence } from './ledger.ts';
import { edited, firstContent, respelled, textOf } from './records.ts';
import type { Content } from './records.ts';

/** How a list is sorted: ids rising or falling, by a code that may change, or by a rank that no record shows. */
export type Order = 'oldest first' | 'newest first' | 'code' | 'rank';

export interface WorldPlan {
  readonly kind: ListedKind;
  readonly order: Order;
  readonly rows: number;
  /** Ids beyond 2^53, which a float rounds. */
  readonly largeIds: boolean;
}

export interface Listed {
  readonly id: string;
  /** What the list is sorted by. */
  readonly key: string;
  readonly text: string;
}

/** One kind of the service's records, and the ledger of everything that ever happened to them. */
export interface World {
  readonly kind: ListedKind;
  readonly ledger: Ledger;
  /** The records that the service shows, in the list's order, as they were at an instant. */
  listAt(ms: number): readonly Listed[];
  /** Changes something; does nothing where there is nothing to change. */
  change(change: Change): void;
  /** Forgets what was, so that a long life does not fill the memory with its truth; call it once nothing is under way. */
  forgetPast(): void;
}

export type Change = (typeof CHANGES)[number];

export const CHANGES = [
  'insert',
  'delete',
  'edit',
  'revert',
  'respell',
  'move',
  're-sort',
  'hide',
  'restore',
  'restore all',
  'detour',
] as const;

interface Living {
  readonly id: string;
  key: string;
  version: number;
  content: Content;
  isHidden: boolean;
}

interface Snapshot {
  readonly sinceMs: number;
  readonly rows: readonly Listed[];
}

export interface WorldParts {
  readonly random: Random;
  readonly nowMs: () => number;
  /** Told of every change, for a trace. */
  readonly onChange?: (what: string) => void;
}

export function createWorld(plan: WorldPlan, { random, nowMs, onChange }: WorldParts): World {
  const { kind } = plan;
  const ledger = createLedger(kind.name);
  const living = new Map<string, Living>();
  const snapshots: Snapshot[] = [];
  let nextId = plan.largeIds ? 9_007_199_254_740_993n : BigInt(random.integer(1, 5000));

  const note = (record: Living, presence?: Presence): void => {
    const sinceMs = nowMs();
    const state = { sinceMs, content: record.content, text: textOf(record.content) };
    ledger.note(
      record.id,
      sinceMs,
      presence ? { presence, ...(presence === 'listed' && { state }) } : { state },
    );
  };
  const rewrite = (record: Living, content: Content): void => {
    record.content = content;
    note(record);
  };
  const edit = (record: Living): void => {
    record.version++;
    rewrite(record, edited(kind, record.content, { seed: record, random }));
  };
  const insert = (): Living => {
    const id = String(nextId);
    nextId += BigInt(random.integer(1, 3));
    const seed = { id, key: sortKey(random), version: 1 };
    const record = { ...seed, content: firstContent(kind, seed, random), isHidden: false };
    living.set(id, record);
    note(record, 'listed');
    return record;
  };
  const remove = (record: Living): void => {
    living.delete(record.id);
    note(record, 'gone');
  };
  const revert = (record: Living): void => {
    const earlier = ledger.histories.get(record.id)?.states.at(-2);
    if (earlier && plan.order !== 'code') rewrite(record, earlier.content);
  };
  const move = (record: Living): void => {
    record.key = sortKey(random);
    if (plan.order === 'code') edit(record); // The code is a field: whoever sorts anew has changed the record.
  };
  const show = (record: Living, isHidden: boolean): void => {
    record.isHidden = isHidden;
    note(record, isHidden ? 'hidden' : 'listed');
  };

  const shown = (): Living[] => [...living.values()].filter(({ isHidden }) => !isHidden);
  const some = (records: readonly Living[], act: (record: Living) => void): void => {
    if (records.length > 0) act(random.pick(records));
  };
  const acts: Record<Change, () => void> = {
    insert: () => void insert(),
    delete: () => {
      some(shown(), remove);
    },
    edit: () => {
      some(shown(), edit);
    },
    revert: () => {
      some(shown(), revert);
    },
    respell: () => {
      some(shown(), (record) => {
        rewrite(record, respelled(kind, record.content, random));
      });
    },
    move: () => {
      some(shown(), move);
    },
    're-sort': () => {
      for (const record of shown()) if (random.chance(0.3)) move(record);
    },
    hide: () => {
      some(shown(), (record) => {
        show(record, true);
      });
    },
    restore: () => {
      for (const record of living.values()) if (record.isHidden && random.chance(0.7)) show(record, false);
    },
    'restore all': () => {
      for (const record of living.values()) if (record.isHidden) show(record, false);
    },
    detour: () => {
      detours();
    },
  };
  let detour: { readonly visitor: Living; readonly edited: Living } | null = null;
  const takeDetour = (): void => {
    const [visitor, shifted] = [insert(), random.pick(shown())];
    edit(shifted);
    detour = { visitor, edited: shifted };
  };
  /** A record comes and goes, and pushes another, which changes and changes back, to the next page and back. */
  const detours = (): void => {
    if (detour === null) {
      takeDetour();
      return;
    }
    const { visitor, edited: shifted } = detour;
    if (living.has(visitor.id)) remove(visitor);
    if (living.has(shifted.id)) revert(shifted);
    detour = null;
  };
  const snapshot = (): void => {
    const rows = shown()
      .sort((a, b) => compare(plan.order, a, b))
      .map(({ id, key, content }) => ({ id, key, text: textOf(content) }));
    snapshots.push({ sinceMs: nowMs(), rows });
  };

  for (let row = 0; row < plan.rows; row++) insert();
  snapshot();
  return {
    kind,
    ledger,
    listAt: (ms) => (snapshots.findLast(({ sinceMs }) => sinceMs <= ms) ?? snapshots[0])?.rows ?? [],
    change: (change) => {
      acts[change]();
      snapshot();
      onChange?.(`${kind.name}: ${change}`);
    },
    forgetPast: () => {
      snapshots.splice(0, snapshots.length - 1);
      ledger.forgetPast();
    },
  };
}

function compare(order: Order, a: Living, b: Living): number {
  const byId = BigInt(a.id) < BigInt(b.id) ? -1 : 1;
  if (order === 'oldest first') return byId;
  if (order === 'newest first') return -byId;
  return a.key === b.key ? byId : a.key < b.key ? -1 : 1;
}

/** Few enough that some records share one. */
function sortKey(random: Random): string {
  return `C${random.digits(2)}`;
}
