const SPACES: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Finds the bracket that begins an array: the whole body, or the value of its first member of a name, which is given in its
 * quotes; null if there is none. Text after it is not read; in text that is not JSON the result is meaningless.
 */
export function arrayStart(body: Uint8Array, name: Uint8Array): number | null {
  const open = skipSpace(body, BYTE_ORDER_MARK.every((byte, index) => body[index] === byte) ? 3 : 0);
  const start = body[open] === OPEN_OBJECT ? memberValue(body, open + 1, name) : open;
  return start !== null && body[start] === OPEN_ARRAY ? start : null;
}

/**
 * Finds the position behind a JSON value that begins at `start`; null where the text ends before. `commas` gets the positions of
 * the commas between the items of an array.
 */
export function valueEnd(body: Uint8Array, start: number, commas: number[] = []): number | null {
  const first = body[start];
  if (first === QUOTE) return stringEnd(body, start);
  if (first === OPEN_ARRAY || first === OPEN_OBJECT) return nestedEnd(body, start, commas);
  let at = start;
  while (at < body.length && body[at] !== COMMA && body[at] !== CLOSE_OBJECT && body[at] !== CLOSE_ARRAY)
    at++;
  return at;
}

/** Where the value of the first member of a name begins, from the first member on. */
function memberValue(body: Uint8Array, from: number, name: Uint8Array): number | null {
  let at = skipSpace(body, from);
  while (body[at] === QUOTE) {
    const colon = skipSpace(body, stringEnd(body, at) ?? body.length);
    if (body[colon] !== COLON) return null;
    const value = skipSpace(body, colon + 1);
    if (name.every((byte, index) => body[at + index] === byte)) return value;
    const comma = skipSpace(body, valueEnd(body, value) ?? body.length);
    if (body[comma] !== COMMA) return null;
    at = skipSpace(body, comma + 1);
  }
  return null;
}

const DEPTHS = new Int8Array(256);
for (const open of [OPEN_ARRAY, OPEN_OBJECT]) DEPTHS[open] = 1;
for (const close of [CLOSE_ARRAY, CLOSE_OBJECT]) DEPTHS[close] = -1;

/** The end of an array or object: all brackets outside of strings are counted alike. */
function nestedEnd(body: Uint8Array, start: number, commas: number[]): number | null {
  let depth = 0;
  for (let at = start; ;) {
    const byte = body[at++];
    if (byte === undefined) return null;
    if (byte === QUOTE) at = stringEnd(body, at - 1) ?? body.length;
    else if (byte === COMMA && depth === 1) commas.push(at - 1);
    else depth += DEPTHS[byte] ?? 0;
    if (depth === 0) return at;
  }
}

function stringEnd(body: Uint8Array, quote: number): number | null {
  for (let at = quote + 1; ;) {
    const byte = body[at++];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
    else if (byte === undefined) return null;
  }
}

function skipSpace(body: Uint8Array, from: number): number {
  let at = from;
  while (SPACES.includes(body[at])) at++;
  return at;
}
