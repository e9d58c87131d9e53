import { expect, test } from 'vitest';
import { targetFault } from '../../../src/lib/net/target-url.ts';
import { PUBLIC_AS_HOSTS, REFUSED, REFUSED_URLS } from './addresses.ts';

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
