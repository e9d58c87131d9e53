import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { errorCode } from '../../lib/sync-error.ts';
import type { HttpAnswer } from './http.ts';

type Unpack = (bytes: Uint8Array, bounds: { readonly maxOutputLength: number }) => Promise<Buffer>;

const zip: Unpack = promisify(unzip);
const brotli: Unpack = promisify(brotliDecompress);

/** By content-encoding. We ask for gzip; a proxy that packs unasked may choose another. */
const WAYS: ReadonlyMap<string, Unpack> = new Map([
  ['gzip', zip],
  ['x-gzip', zip],
  ['deflate', zip],
  ['br', brotli],
]);

/** A body grew too long while it was unpacked. */
export const TOO_LONG = Symbol('too long');

/**
 * Unpacks the body of an answer, if it is packed; `TOO_LONG` where that makes it longer than is allowed.
 *
 * One that cannot be unpacked stays as it came, and keeps its content-encoding: whether that is a fault depends on the status.
 */
export async function unpack(answer: HttpAnswer, maxBytes: number): Promise<HttpAnswer | typeof TOO_LONG> {
  const { 'content-encoding': encoding, ...headers } = answer.headers;
  const way = WAYS.get(String(encoding).trim().toLowerCase());
  if (way === undefined || answer.bytes.length === 0) return answer;
  try {
    return { ...answer, headers, bytes: await way(answer.bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    return errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? TOO_LONG : answer; // All else zlib says of the bytes.
  }
}
