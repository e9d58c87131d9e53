/**
 * Gathers chunks in one buffer, which takes twice their size at most; most answers are one chunk, which is kept as it is. Many
 * chunks kept like that would take many times their size: each holds everything that came off the socket with it.
 *
 * @param maxBytes The most bytes that a caller adds.
 */
export function createByteBuffer(maxBytes: number) {
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (chunk: Buffer): void => {
      const needed = size + chunk.length;
      if (size > 0 && needed > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, maxBytes)));
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      if (size === 0) buffer = chunk;
      else chunk.copy(buffer, size);
      size = needed;
    },
    bytes: (): Buffer => buffer.subarray(0, size),
  };
}
