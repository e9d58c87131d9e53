/**
 * Gathers chunks in one buffer, which takes twice their size at most; most answers are one chunk, which is kept as it is. Kept
 * like that, many would take many times their size: each holds everything that came off the socket with it.
 *
 * @param most The bytes that a caller takes at most.
 */
export function gatherBytes(most: number) {
  let held: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (chunk: Buffer): void => {
      const needed = size + chunk.length;
      if (size > 0 && needed > held.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, most)));
        held.copy(larger, 0, 0, size);
        held = larger;
      }
      if (size === 0) held = chunk;
      else chunk.copy(held, size);
      size = needed;
    },
    bytes: (): Buffer => held.subarray(0, size),
  };
}
