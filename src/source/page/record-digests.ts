import { hash } from 'node:crypto';
import type { TextList } from '../../lib/text-list.ts';
import type { Part } from './record-bytes.ts';

/** The stored digests of a page's records. */
export interface RecordsKnown {
  readonly digestScope: string;
  /** Their ids, in their order. */
  readonly keys: TextList;
  /** Their digests in the same order, as `digestsText` writes them. */
  readonly digests: string;
}

const LENGTH = 16; // In base64: 96 bits of SHA-256.

/** Makes the digest of each record's text. */
export function digestsOf(bytes: Uint8Array, parts: readonly Part[]): string[] {
  return parts.map(({ start, end }) => digestOf(bytes.subarray(start, end)));
}

/** The digests of a page's records as one text, after the digest of their scope. */
export function digestsText(digests: readonly string[], digestScope: string): string {
  return digestOf(Buffer.from(digestScope)) + digests.join('');
}

/**
 * Finds the id of every record whose text is known, in any position; undefined for the others.
 *
 * @returns Null if the known digests have another scope, or if their number differs from that of the ids.
 */
export function knownIds(
  shown: readonly string[],
  { digestScope, keys, digests }: RecordsKnown,
): readonly (string | undefined)[] | null {
  const isWhole = digests.length === LENGTH * (keys.length + 1);
  if (!isWhole || !digests.startsWith(digestsText([], digestScope))) return null;
  const at = (index: number): string => digests.slice(LENGTH * (index + 1), LENGTH * (index + 2));
  const ids = new Map(Array.from(keys, (key, index) => [at(index), key]));
  return shown.map((digest) => ids.get(digest));
}

function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64').slice(0, LENGTH);
}
