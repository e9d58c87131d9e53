import type { ListedKind } from '../../src/catalog/kind.ts';
import { compactJson, type JsonObject } from '../../src/lib/json/json.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import type { Personality } from './traits.ts';

/** A record's fields, by their names of a read. */
export type Content = Readonly<Record<string, unknown>>;

/** Whose doing something is: what was there before, somebody else's, or one of our sends. */
export type Actor = 'before' | 'other' | { readonly send: number };

/** A record as it was from some instant on. */
export interface Row {
  readonly id: string;
  readonly content: Content;
  /** As an answer shows it. */
  readonly text: string;
  /** Its number in the order of creation. */
  readonly born: number;
}

/** Something that was done to a record. */
export interface RecordAction {
  readonly atMs: number;
  readonly id: string;
  readonly actor: Actor;
  readonly is: 'created' | 'edited' | 'deleted' | 'restored';
  readonly before: Row | null;
  readonly after: Row | null;
}

/** All that a kind ever was: the truth that checks go by. */
export interface Records {
  readonly kind: ListedKind;
  readonly actions: readonly RecordAction[];
  /** The rows at an instant, in the order of creation. */
  at(ms: number): readonly Row[];
  find(id: string, ms: number): Row | undefined;
  create(fields: Content, atMs: number, actor: Actor): string;
  /** Gives the id of a record that was removed to another one; false where it is taken. */
  succeed(id: string, fields: Content, atMs: number): boolean;
  /** False where there is no such record. */
  edit(id: string, fields: Content, by: { readonly atMs: number; readonly actor: Actor }): boolean;
  remove(id: string, atMs: number): void;
  /** Brings a record back that was removed, as it was; false where its id is taken. */
  restore(id: string, atMs: number): boolean;
}

interface Snapshot {
  readonly sinceMs: number;
  readonly rows: readonly Row[];
}

interface RecordsParts {
  readonly kind: ListedKind;
  readonly blank: Content;
  readonly random: Random;
  readonly ids: Personality['ids'];
}

export function createRecords({ kind, blank, random, ids }: RecordsParts): Records {
  const snapshots: Snapshot[] = [{ sinceMs: -Infinity, rows: [] }];
  const actions: RecordAction[] = [];
  let lastId = random.integer(100, 5_000);
  let born = 0;

  const now = (): readonly Row[] => snapshots.at(-1)?.rows ?? [];
  const at = (ms: number): readonly Row[] => snapshots.findLast(({ sinceMs }) => sinceMs <= ms)?.rows ?? [];
  const note = (action: RecordAction): void => {
    const others = now().filter(({ id }) => id !== action.id);
    const rows = action.after === null ? others : [...others, action.after];
    snapshots.push({ sinceMs: action.atMs, rows: rows.sort((a, b) => a.born - b.born) });
    actions.push(action);
  };
  const nextId = (): string => {
    if (ids === 'reused') return String(Math.max(lastId, ...now().map(({ id }) => Number(id))) + 1);
    lastId += ids === 'with gaps' ? random.integer(1, 40) : 1;
    return String(lastId);
  };

  return {
    kind,
    actions,
    at,
    find: (id, ms) => at(ms).find((row) => row.id === id),
    create: (fields, atMs, actor) => {
      const id = nextId();
      const after = rowOf(id, { ...blank, ...fields, id: Number(id) }, born++);
      note({ atMs, id, actor, is: 'created', before: null, after });
      return id;
    },
    succeed: (id, fields, atMs) => {
      if (now().some((row) => row.id === id)) return false;
      const after = rowOf(id, { ...blank, ...fields, id: Number(id) }, born++);
      note({ atMs, id, actor: 'other', is: 'created', before: null, after });
      return true;
    },
    edit: (id, fields, { atMs, actor }) => {
      const before = now().find((row) => row.id === id);
      if (before === undefined) return false;
      const after = rowOf(id, { ...before.content, ...fields }, before.born);
      if (after.text !== before.text) note({ atMs, id, actor, is: 'edited', before, after });
      return true;
    },
    remove: (id, atMs) => {
      const before = now().find((row) => row.id === id);
      if (before !== undefined) note({ atMs, id, actor: 'other', is: 'deleted', before, after: null });
    },
    restore: (id, atMs) => {
      const last = actions.findLast((action) => action.id === id);
      if (last?.is !== 'deleted') return false;
      note({ atMs, id, actor: 'other', is: 'restored', before: null, after: last.before });
      return true;
    },
  };
}

const rowOf = (id: string, content: Content, born: number): Row => ({
  id,
  content,
  born,
  text: compactJson(content as JsonObject),
});

/** Whether our send has made a record: to delete one of those would make any second send look like a double. */
export function isOurs({ actions }: Pick<Records, 'actions'>, id: string): boolean {
  const made = actions.findLast((action) => action.id === id && action.is === 'created');
  return typeof made?.actor === 'object';
}
