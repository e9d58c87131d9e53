import fc from 'fast-check';
import { expect, test } from 'vitest';
import { targetFault, isPublicAddress, parseUrl } from '../../../src/lib/net/target-url.ts';
import { PUBLIC_AS_HOSTS, REFUSED, REFUSED_URLS, PUBLIC } from './addresses.ts';

test.each(REFUSED_URLS)('%j is no target', (url) => {
  expect(targetFault(url, [])).toEqual(expect.any(String));
});

test('no URL with an address that is not public is a target', () => {
  const hosts = REFUSED.filter((text) => !PUBLIC_AS_HOSTS.includes(text));
  const urls = hosts.flatMap((address) => [`https://${address}/`, `https://[${address}]/`]);
  expect(urls.filter((url) => targetFault(url, []) === null)).toEqual([]);
});

test.each([
  'https://example.com/',
  'https://example.com',
  'https://example.com:443/hook?x=1#y',
  'HTTPS://EXAMPLE.COM/Hook',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/hook',
  'https://hooks.example.co.uk/a/b/c',
])('%s is a target', (url) => {
  expect(targetFault(url, [])).toBeNull();
});

test.each([
  ['http://receiver:8080/hook', 'receiver'],
  ['http://RECEIVER:8080/hook', 'receiver'],
  ['http://127.0.0.1:9000/', '127.0.0.1'],
  ['https://10.0.0.5/', '10.0.0.5'],
  ['http://[::1]:9000/', '::1'],
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

test('a URL with accents is parsed, however often it was asked for', () => {
  const parsed = Array.from({ length: 50_000 }, () => parseUrl('https://bücher.example/')?.hostname);
  expect(new Set(parsed)).toEqual(new Set(['xn--bcher-kva.example']));
});

test('no URL is none', () => {
  expect(parseUrl('bücher')).toBeNull();
  expect(parseUrl('https://a:b:c/')).toBeNull();
});
