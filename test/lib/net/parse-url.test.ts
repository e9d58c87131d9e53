import { expect, test } from 'vitest';
import { parseUrl } from '../../../src/lib/net/parse-url.ts';

test('a URL with accents is parsed, however often it was asked for', () => {
  const parsed = Array.from({ length: 50_000 }, () => parseUrl('https://bücher.example/')?.hostname);
  expect(new Set(parsed)).toEqual(new Set(['xn--bcher-kva.example']));
});

test('no URL is none', () => {
  expect(parseUrl('bücher')).toBeNull();
  expect(parseUrl('https://a:b:c/')).toBeNull();
});
