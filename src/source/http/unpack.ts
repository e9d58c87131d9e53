import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { errorCode } from '../../lib/sync-error.ts';

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
 * Unpacks a body by its content-encoding; `TOO_LONG` where that makes it longer than is allowed, null where it cannot be
 * unpacked.
 */
export async function unpack(
  bytes: Uint8Array,
  encoding: string,
  maxBytes: number,
): Promise<Uint8Array | typeof TOO_LONG | null> {
  const way = WAYS.get(encoding.trim().toLowerCase());
  if (way === undefined) return null;
  if (bytes.length === 0) return bytes;
  try {
    return await way(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    return errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? TOO_LONG : null; // All else zlib says of the bytes.
  }
}
