/** Bytes of a body, gathered as they come. */
interface GatheredBytes {
  readonly size: number;
  add(chunk: Buffer): void;
  bytes(): Buffer;
}

/**
 * Gathers chunks in one buffer, which takes twice their size at most.
 *
 * Kept as they are, chunks would take many times their size: one of a single byte is an object of a hundred, and holds
 * everything that came off the socket with it. Only the first one is kept: most answers are one chunk.
 */
export function gatherBytes(): GatheredBytes {
  let held: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (chunk) => {
      const needed = size + chunk.length;
      if (size === 0) held = chunk;
      else {
        if (needed > held.length) held = grown(held, size, 2 * needed);
        chunk.copy(held, size);
      }
      size = needed;
    },
    bytes: () => held.subarray(0, size),
  };
}

function grown(held: Buffer, size: number, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  held.copy(larger, 0, 0, size);
  return larger;
}
