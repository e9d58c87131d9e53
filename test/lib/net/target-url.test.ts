import fc from 'fast-check';
import { expect, test } from 'vitest';
import { targetFault, isPublicAddress } from '../../../src/lib/net/target-url.ts';
import { PUBLIC, REFUSED, REFUSED_URLS } from './addresses.ts';

test('no URL that hides where it leads is a target, and none with an address that is not public', () => {
  const addresses = REFUSED.flatMap((address) => [`https://${address}/`, `https://[${address}]/`]);
  const targets = [...REFUSED_URLS, ...addresses, ''].filter((url) => targetFault(url, []) === null);
  expect(targets).toEqual([]);
});

test('what is white space, a backslash or another address to another reader leads where ours says', () => {
  for (const url of ['https://example.com\\@127.0.0.1/', 'https://ex\nample.com/', 'https:/example.com'])
    expect([targetFault(url, []), new URL(url).hostname]).toEqual([null, 'example.com']);
});

test.each([
  'https://example.com/',
  'https://example.com:443/hook?x=1#y',
  'HTTPS://EXAMPLE.COM/Hook',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/hook',
])('%s is a target', (url) => {
  expect(targetFault(url, [])).toBeNull();
});

test.each([
  ['http://receiver:8080/hook', 'receiver'],
  ['http://RECEIVER:8080/hook', 'receiver'],
  ['http://127.0.0.1:9000/', '127.0.0.1'],
  ['https://10.0.0.5/', '10.0.0.5'],
  ['http://[0:0::1]:9000/', '::1'],
])('%s is a target where %s is allowed, and no other host is', (url, host) => {
  expect(targetFault(url, [host])).toBeNull();
  expect(targetFault(url, ['example.com'])).not.toBeNull();
  expect(targetFault('http://127.0.0.2/', [host])).not.toBeNull();
});

test('an allowed host lets no user through', () => {
  expect(targetFault('http://user:word@receiver/', ['receiver'])).not.toBeNull();
  expect(targetFault('http://receiver@evil.example/', ['receiver'])).not.toBeNull();
});

test('each form of an address is public, or is not', () => {
  expect(REFUSED.filter(isPublicAddress)).toEqual([]);
  expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test('an address of IPv4 is never public in a form of IPv6', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(byte, byte, byte, byte, (a, b, c, d) => {
      const dotted = [a, b, c, d].join('.');
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
      const forms = [`::${dotted}`, `::ffff:${dotted}`, `::ffff:0:${dotted}`, `64:ff9b::${dotted}`];
      expect([...forms, `2002:${hex}::1`].filter(isPublicAddress)).toEqual([]);
    }),
  );
});
