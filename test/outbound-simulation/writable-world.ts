import type { ListedKind } from '../../src/catalog/kind.ts';
import { blankRecord } from '../../src/sandbox/generate/from-catalogue.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import { createLedger } from '../simulation/ledger.ts';
import type { Presence } from '../simulation/ledger.ts';
import { textOf } from '../simulation/records.ts';
import type { Cell, Content } from '../simulation/records.ts';
import type { Listed, World } from '../simulation/world.ts';
import { cellOf, withCells } from './written-value.ts';

/** Whose doing something is: what was there before, a person's, or a send of ours. */
export type Doer = 'before' | 'person' | { readonly send: number };

/** Something that was done to a record, with the fields as they were before and are after. */
export interface Deed {
  readonly atMs: number;
  readonly id: string;
  readonly doer: Doer;
  readonly is: 'created' | 'edited' | 'deleted';
  readonly before: ReadonlyMap<string, Cell | undefined>;
  readonly after: ReadonlyMap<string, Cell>;
}

type Cells = ReadonlyMap<string, Cell>;

/** A kind's records that can be written; the ledger knows all that happened, the deeds who did it. */
export interface WritableWorld extends World {
  readonly kind: ListedKind;
  readonly deeds: readonly Deed[];
  create(cells: Cells, doer: Doer): string;
  /** False where there is no such record. */
  edit(id: string, cells: Cells, doer: Doer): boolean;
  remove(id: string, doer: Doer): void;
  content(id: string): Content | undefined;
  ids(): readonly string[];
}

interface Living {
  readonly id: string;
  content: Content;
}

export interface WorldParts {
  readonly kind: ListedKind;
  readonly isNewestFirst: boolean;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly onChange: (what: string) => void;
}

const SYSTEM = 41;

export function createWritableWorld({
  kind,
  isNewestFirst,
  random,
  nowMs,
  onChange,
}: WorldParts): WritableWorld {
  const ledger = createLedger(kind.name);
  const living = new Map<string, Living>();
  const snapshots: { readonly sinceMs: number; readonly rows: readonly Listed[] }[] = [];
  const deeds: Deed[] = [];
  let nextId = random.integer(100, 5000);

  const list = (): Listed[] =>
    [...living.values()]
      .map(({ id, content }) => ({ id, key: keyOf(kind, content), text: textOf(content) }))
      .sort((a, b) => compare(a, b, isNewestFirst));
  const done = (deed: Omit<Deed, 'atMs'>, presence?: Presence): void => {
    const sinceMs = nowMs();
    const content = living.get(deed.id)?.content;
    const state = content && { sinceMs, content, text: textOf(content) };
    ledger.note(deed.id, sinceMs, { ...(presence && { presence }), ...(state && { state }) });
    snapshots.push({ sinceMs, rows: list() });
    deeds.push({ atMs: sinceMs, ...deed });
    onChange(`${kind.name} ${deed.id} ${deed.is} by ${JSON.stringify(deed.doer)}`);
  };
  const before = ({ content }: Living, cells: Cells): Deed['before'] =>
    new Map([...cells.keys()].map((name) => [name, content.get(name)]));

  snapshots.push({ sinceMs: 0, rows: [] });
  return {
    ...{ kind, ledger, deeds },
    change: () => undefined,
    listAt: (ms) => (snapshots.findLast(({ sinceMs }) => sinceMs <= ms) ?? snapshots[0])?.rows ?? [],
    create: (cells, doer) => {
      const id = String(nextId);
      nextId += random.integer(1, 3);
      const blank = Object.entries(blankRecord(kind, SYSTEM)).map(([name, value]): [string, Cell] => [
        name,
        cellOf(value),
      ]);
      const content = withCells(new Map([...blank, ['id', cellOf(Number(id))]]), cells);
      living.set(id, { id, content });
      done({ id, doer, is: 'created', before: new Map(), after: cells }, 'listed');
      return id;
    },
    edit: (id, cells, doer) => {
      const record = living.get(id);
      if (record === undefined) return false;
      const was = before(record, cells);
      record.content = withCells(record.content, cells);
      const isNews = [...cells].some(([name, { value }]) => was.get(name)?.value !== value);
      if (isNews) done({ id, doer, is: 'edited', before: was, after: cells });
      return true;
    },
    remove: (id, doer) => {
      if (living.delete(id)) done({ id, doer, is: 'deleted', before: new Map(), after: new Map() }, 'gone');
    },
    content: (id) => living.get(id)?.content,
    ids: () => [...living.keys()],
    forgetPast: () => {
      snapshots.splice(0, snapshots.length - 1);
      deeds.length = 0;
      ledger.forgetPast();
    },
  };
}

const keyOf = ({ list }: ListedKind, content: Content): string =>
  list.order === 'code' ? (content.get('code')?.value ?? '') : '';

function compare(a: Listed, b: Listed, isNewestFirst: boolean): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  const isOlder = BigInt(a.id) < BigInt(b.id);
  return isOlder === isNewestFirst ? 1 : -1;
}
