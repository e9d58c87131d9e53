import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteBuffer } from '../../../src/lib/net/byte-buffer.ts';

test('the bytes are those of the chunks, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (arrays) => {
      const chunks = arrays.map((array) => Buffer.from(array));
      const gathered = createByteBuffer(1_000_000);
      for (const chunk of chunks) gathered.add(chunk);
      expect(gathered.bytes()).toEqual(Buffer.concat(chunks));
      expect(gathered.size).toBe(gathered.bytes().length);
    }),
  );
});

test('chunks of one byte are held in twice their size', () => {
  const gathered = createByteBuffer(1_000_000);
  for (let count = 0; count < 100_000; count += 1) gathered.add(Buffer.alloc(1));
  expect(gathered.bytes().buffer.byteLength).toBeLessThanOrEqual(200_000);
});
