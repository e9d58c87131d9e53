/** JSON as its text says: numbers are their tokens, of a key that comes twice the last one counts. */
export type Node =
  | { readonly is: 'number' | 'text'; readonly text: string }
  | { readonly is: 'word'; readonly text: 'true' | 'false' | 'null' }
  | { readonly is: 'array'; readonly items: readonly Node[] }
  | { readonly is: 'object'; readonly members: ReadonlyMap<string, Node> };

/** What the reader makes of a text; `deep`: deeper than it goes, so that nothing is known. */
export type Read = Node | 'not JSON' | 'deep';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const DEEPEST = 1000;

class NotJson extends Error {}
class Deep extends Error {}

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

const KEPT = 4000;
const read = new Map<string, Read>();

/** Reads JSON by the grammar of RFC 8259, without any part of the code under test; the same text only once. */
export function readJson(text: string): Read {
  const known = read.get(text);
  if (known !== undefined) return known;
  if (read.size >= KEPT) read.clear();
  const fresh = readAnew(text);
  if (text.length < 10_000) read.set(text, fresh);
  return fresh;
}

function readAnew(text: string): Read {
  const cursor = { text, at: 0, depth: 0 };
  try {
    const node = readValue(cursor);
    return cursor.at === text.length ? node : 'not JSON';
  } catch (error) {
    if (error instanceof NotJson) return 'not JSON';
    if (error instanceof Deep) return 'deep';
    throw error;
  }
}

function take(cursor: Cursor, pattern: RegExp): string | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0] ?? null;
  if (found !== null) cursor.at += found.length;
  return found;
}

function readValue(cursor: Cursor): Node {
  take(cursor, SPACE);
  const node = readBare(cursor);
  take(cursor, SPACE);
  return node;
}

function readBare(cursor: Cursor): Node {
  const mark = cursor.text[cursor.at];
  if (mark === '{') {
    const members = readNest(cursor, '}', readMember);
    return { is: 'object', members: new Map(members.map(({ name, value }) => [name, value])) };
  }
  if (mark === '[') return { is: 'array', items: readNest(cursor, ']', readValue) };
  return mark === '"' ? { is: 'text', text: readText(cursor) } : readToken(cursor);
}

function readToken(cursor: Cursor): Node {
  const word = take(cursor, WORD);
  if (word !== null) return { is: 'word', text: word as 'true' };
  const number = take(cursor, NUMBER);
  if (number === null) throw new NotJson();
  return { is: 'number', text: number };
}

function readText(cursor: Cursor): string {
  const text = take(cursor, TEXT);
  if (text === null) throw new NotJson();
  return JSON.parse(text) as string;
}

function readMember(cursor: Cursor) {
  take(cursor, SPACE);
  const name = readText(cursor);
  take(cursor, SPACE);
  expectMark(cursor, ':');
  return { name, value: readValue(cursor) };
}

function readNest<T>(cursor: Cursor, close: string, readItem: (cursor: Cursor) => T): T[] {
  if (++cursor.depth > DEEPEST) throw new Deep();
  cursor.at++;
  take(cursor, SPACE);
  const items: T[] = [];
  while (cursor.text[cursor.at] !== close) {
    if (items.length > 0) expectMark(cursor, ',');
    items.push(readItem(cursor));
  }
  cursor.at++;
  cursor.depth--;
  return items;
}

function expectMark(cursor: Cursor, mark: string): void {
  if (cursor.text[cursor.at] !== mark) throw new NotJson();
  cursor.at++;
}

const written = new WeakMap<Node, string>();

/** A text that is equal for equal values: keys in one order, numbers, by their tokens, as they were sent. */
export function canonical(node: Node): string {
  const text = written.get(node) ?? writeCanonical(node);
  written.set(node, text);
  return text;
}

function writeCanonical(node: Node): string {
  if (node.is === 'array') return `[${node.items.map(canonical).join(',')}]`;
  if (node.is === 'text') return JSON.stringify(node.text);
  if (node.is !== 'object') return node.text;
  const members = [...node.members].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`).join(',')}}`;
}

/** How many arrays and objects stand around the innermost value. */
export function depthOf(node: Node): number {
  const inner = node.is === 'array' ? node.items : node.is === 'object' ? [...node.members.values()] : null;
  return inner === null ? 0 : 1 + inner.reduce((deepest, one) => Math.max(deepest, depthOf(one)), 0);
}
