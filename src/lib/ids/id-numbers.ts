/** Numbers record ids from 0 on, in the order of their first appearance, in about 20 bytes each; exact up to 2^63−1. */
export type IdNumbers = ReturnType<typeof createIdNumbers>;

const FEWEST_IDS = 8; // Most lists are short.
const ZERO = 48;
const NINE = 57;
/** Nine digits fit 32 bits, and the ten before them a float. */
const TAIL_DIGITS = 9;

/** An id in two numbers, as no single one holds 19 digits: its last nine digits, and those before. */
interface Id {
  tail: number;
  head: number;
}

/** Open addressing: a slot holds an id's number + 1, or 0. A Map of a million texts would cost ten times that. */
interface HashTable {
  slots: Int32Array;
  tails: Uint32Array;
  /** Empty while no id is so long that it has one. */
  heads: Float64Array;
  size: number;
}

/** @param expected So many ids get room at once: growing to it would need half as much again for a moment. */
export function createIdNumbers(expected = 0) {
  const room = 2 ** Math.ceil(Math.log2(Math.max(FEWEST_IDS, expected + 1)));
  const table: HashTable = {
    slots: new Int32Array(room * 2), // Half of the slots stay free.
    tails: new Uint32Array(room),
    heads: new Float64Array(0),
    size: 0,
  };
  const id: Id = { tail: 0, head: 0 }; // One object for all: a million would be garbage.
  return {
    /** Hands out the number of every id that the text names (`[1,2,3]`), new ids included. */
    number: (ids: string, take: (index: number) => void): void => {
      for (let at = nextDigit(ids, 0); at < ids.length; at = nextDigit(ids, at)) {
        at = readId(ids, at, id);
        take(numberOf(table, id));
      }
    },
    /** The number of one id; −1 if it has none. */
    find: (text: string): number => {
      readId(text, 0, id);
      return (table.slots[slotOf(table, id)] ?? 0) - 1;
    },
    idOf: (index: number): string => idAt(table, index),
    size: (): number => table.size,
    /** The ids whose numbers are wanted, in the order of their numbers. */
    idsWhere: (isWanted: (index: number) => boolean): string[] => {
      const ids: string[] = [];
      for (let index = 0; index < table.size; index++) if (isWanted(index)) ids.push(idAt(table, index));
      return ids;
    },
  };
}

function numberOf(table: HashTable, id: Id): number {
  const slot = slotOf(table, id);
  const known = table.slots[slot] ?? 0;
  if (known > 0) return known - 1;
  const index = table.size++;
  table.tails[index] = id.tail;
  if (id.head > 0 && table.heads.length === 0) table.heads = new Float64Array(table.tails.length);
  if (table.heads.length > 0) table.heads[index] = id.head;
  table.slots[slot] = table.size;
  if (table.size === table.tails.length) grow(table);
  return index;
}

/** The slot that holds the id, or that it should have. */
function slotOf({ slots, tails, heads }: HashTable, { tail, head }: Id): number {
  const mask = slots.length - 1;
  let slot = scatter(tail, head) & mask;
  for (;;) {
    const index = (slots[slot] ?? 0) - 1;
    if (index < 0 || (tails[index] === tail && (heads[index] ?? 0) === head)) return slot;
    slot = (slot + 1) & mask;
  }
}

function grow(table: HashTable): void {
  const { tails, heads } = table;
  table.tails = new Uint32Array(tails.length * 2);
  table.tails.set(tails);
  if (heads.length > 0) {
    table.heads = new Float64Array(table.tails.length);
    table.heads.set(heads);
  }
  table.slots = new Int32Array(table.tails.length * 2);
  for (let index = 0; index < table.size; index++) {
    const slot = slotOf(table, { tail: table.tails[index] ?? 0, head: table.heads[index] ?? 0 });
    table.slots[slot] = index + 1;
  }
}

/** Neighbouring ids must not share their slots, nor may ids that differ in a few bits only. */
function scatter(tail: number, head: number): number {
  let hash = Math.imul(tail ^ Math.imul(head, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function nextDigit(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Reads the id that starts at `from`; returns where it ends. */
function readId(text: string, from: number, into: Id): number {
  let end = from;
  let number = 0;
  for (let code = text.charCodeAt(end); isDigit(code); code = text.charCodeAt(++end))
    number = number * 10 + code - ZERO;
  // A longer number may have been rounded.
  const middle = Math.max(from, end - TAIL_DIGITS);
  into.head = digits(text, from, middle);
  into.tail = middle === from ? number : digits(text, middle, end);
  return end;
}

function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

function idAt({ heads, tails }: HashTable, index: number): string {
  const head = heads[index] ?? 0;
  const tail = tails[index] ?? 0;
  return head === 0 ? String(tail) : `${head}${String(tail).padStart(TAIL_DIGITS, '0')}`;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
