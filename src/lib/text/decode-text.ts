import { isUtf8 } from 'node:buffer';
import { SyncError } from '../sync-error.ts';

/**
 * Decodes a file or input that people write: UTF-8, without the byte order mark that some editors put first.
 *
 * @throws {SyncError} `file.encoding`, worded as the end of a sentence about the file: `is in UTF-16 …`.
 */
export function decodeText(bytes: Uint8Array): string {
  const encoding = detectOtherEncoding(bytes);
  if (encoding !== null)
    throw new SyncError(`is in ${encoding}, not in UTF-8: save it as UTF-8`, { code: 'file.encoding' });
  return new TextDecoder().decode(bytes);
}

/** The encoding of a text that is not UTF-8; null if it is. ASCII in UTF-16 has a null byte in each pair. */
function detectOtherEncoding(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  const hasByteOrderMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasByteOrderMark || (bytes.length > 1 && (first === 0) !== (second === 0))) return 'UTF-16';
  return isUtf8(bytes) ? null : 'another encoding (such as Windows-1252)';
}
