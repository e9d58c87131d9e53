import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/lib/net/public-address.ts';
import { PUBLIC, REFUSED } from './addresses.ts';

test.each(REFUSED)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(PUBLIC)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test('there are a hundred addresses at least', () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(100);
});

test('an address of IPv4 is never public in a form of IPv6', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(byte, byte, byte, byte, (...bytes) => {
      const [a, b, c, d] = bytes;
      const [dotted, hex] = [bytes.join('.'), `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`];
      for (const form of [
        `::${dotted}`,
        `::ffff:${dotted}`,
        `64:ff9b::${dotted}`,
        `2002:${hex}::1`,
        `::ffff:0:${dotted}`,
      ])
        expect(isPublicAddress(form)).toBe(false);
    }),
  );
});
