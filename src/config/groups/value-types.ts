import { BlockList, isIPv6 } from 'node:net';
import * as z from 'zod';

/** The kinds of value that settings have. Each one's error text states the expected form, and nothing else. */

/** Node's timers fire at once beyond 24 days; a day is longer than any sensible wait. */
const DAY_SECONDS = 86_400;

export const count = whole('a whole number from 1', 1);
export const countOrNone = whole('a whole number from 0', 0);
export const pageSize = whole('a whole number from 1 to 1000', 1, 1000);
export const month = whole('a month: a whole number from 1 to 12', 1, 12);
export const port = whole('a port: a whole number from 0 to 65535', 0, 65_535);

export const seconds = numberFrom('a number of seconds from 0');
export const timerSeconds = positive('a number of seconds above 0, at most 86400').max(
  DAY_SECONDS,
  'a number of seconds above 0, at most 86400',
);
export const days = positive('a number of days above 0, or null for ever');
export const hours = positive('a number of hours above 0, or null');
export const waitSeconds = positive('a number of seconds above 0');
export const rate = positive('a number above 0, or null');
export const share = numberFrom('a number from 0 to 1').max(1, 'a number from 0 to 1');

export const filledText = textLike(/\S/, 'a text that is not empty');
export const host = textLike(/^[^\s/]+$/, 'a host name or an address');
export const kindField = textLike(/^\w+$/, 'the name of a field: letters, digits and _');
export const kindNameText = textLike(
  /^[a-z][a-z0-9_]*$/,
  'the name of a record kind: small letters, digits and _',
);
export const path = textLike(/^\/(?!.*:id\b)[^\s?#]*$/, 'a path that begins with /, without :id');
export const pathWithId = textLike(/^\/[^\s?#]*:id\b[^\s?#]*$/, 'a path that begins with / and contains :id');
export const timezone = z
  .string('the name of a time zone')
  .refine(isTimezone, 'the name of a time zone, as in America/Toronto');

/** Characters that a header can carry. */
const VISIBLE = /^[\x21-\x7e]+$/;
const visible = textLike(VISIBLE, 'a token without spaces, line breaks or other control characters');
export const token = textLike(
  VISIBLE,
  'the token alone, without spaces, line breaks or other control characters, and without the word Bearer',
);
const ADMIN_TOKEN =
  'a token of at least 32 characters, 8 of them different; to make one: openssl rand -hex 32';
export const adminToken = visible.min(32, ADMIN_TOKEN).refine((text) => new Set(text).size >= 8, ADMIN_TOKEN);

const HEADERS = 'all, documented, or a list of header names';
export const headerName = textLike(/^[\w!#$%&'*+.^`|~-]+$/, 'a header name, such as Authorization');
export const headerNames = z.union(
  [z.enum(['all', 'documented']), z.array(headerName).min(1, HEADERS)],
  HEADERS,
);

const CLIENT_HEADERS = ['authorization', 'cookie', 'host', 'origin'];
/** A header that a proxy adds: browsers and clients send the excluded ones themselves. */
export const proxyHeaderName = headerName.refine(
  (name) => !CLIENT_HEADERS.includes(name.toLowerCase()),
  'a header that only the proxy sets: not Authorization, Cookie, Host or Origin',
);

const NETWORK = 'an IP address, or a network such as 10.0.0.0/8';
export const network = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], NETWORK)
  .refine((place) => !isTooLarge(place), `${NETWORK}, smaller than the whole Internet`);

/** One address of each first byte, as itself and as IPv6 shows it; and one of each region of IPv6. */
const SPREAD_ADDRESSES = Array.from({ length: 223 }, (_, byte) => `${byte + 1}.1.1.1`).concat(
  ['2001:4::1', '2400::1', '2600::1', '2800::1', '2a00::1', '2c00::1'], // prettier-ignore
);

/** Whether a network has addresses that belong to no one organisation together. */
function isTooLarge(place: string): boolean {
  const [address = '', bits] = place.split('/');
  if (bits === undefined) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  const isIn = (ip: string): boolean =>
    isIPv6(ip) ? list.check(ip, 'ipv6') : list.check(ip, 'ipv4') || list.check(`::ffff:${ip}`, 'ipv6');
  return SPREAD_ADDRESSES.filter(isIn).length > 1;
}

export const webUrl = z.url({ protocol: /^https?$/, normalize: true, error: 'an http or https URL' });

const ESCAPES = 'in its user and password write % as %25, @ as %40, / as %2F, # as %23 and ? as %3F';
export const proxyUrl = webUrl.refine(hasReadableUser, `an http or https URL; ${ESCAPES}`);

const SERVICE_URL = 'an http or https URL without user, query or fragment';
export const serviceUrl = z
  .url({ protocol: /^https?$/, normalize: true, abort: true, error: SERVICE_URL })
  .refine((url) => !/[?#]/.test(url) && new URL(url).username + new URL(url).password === '', SERVICE_URL)
  .overwrite((url) => url.replace(/(?<!\/)\/+$/, ''));
export const originUrl = serviceUrl.refine(
  (url) => (URL.parse(url)?.pathname ?? '/') === '/',
  'an http or https URL without a path: the dashboard needs a host name of its own',
);

export const databaseUrl = urlLike(/^(file:|postgres(ql)?:\/\/)./, 'file:PATH or a postgres:// URL');
export const mailUrl = urlLike(/^smtps?:\/\/./, 'an smtp:// or smtps:// URL');
export const timeOfDay = textLike(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of the day, as in 07:00');
export const queueUrl = urlLike(/^rediss?:\/\/./, 'a redis:// or rediss:// URL');

function whole(expected: string, from: number, to = Number.MAX_SAFE_INTEGER) {
  return z.int(expected).min(from, expected).max(to, expected);
}

function numberFrom(expected: string) {
  return z.number(expected).min(0, expected);
}

function positive(expected: string) {
  return z.number(expected).positive(expected);
}

function textLike(pattern: RegExp, expected: string) {
  return z.string(expected).regex(pattern, expected);
}

/** A URL whose user and password can be read and masked; a path after `file:` may have any character. */
function urlLike(pattern: RegExp, expected: string) {
  return z
    .string(expected)
    .regex(pattern, { error: expected, abort: true })
    .refine((url) => url.startsWith('file:') || hasReadableUser(url), {
      error: `${expected}; ${ESCAPES}`,
    });
}

/** A `/`, `#` or `?` in a password ends the host, and a `%` without two digits after it encodes nothing. */
function hasReadableUser(nonEmptyText: string): boolean {
  const url = URL.parse(nonEmptyText);
  if (url === null || `${url.pathname}${url.search}${url.hash}`.includes('@')) return false;
  try {
    decodeURIComponent(`${url.username}:${url.password}${url.pathname}`);
    return true;
  } catch {
    return false;
  }
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // The only reliable test: Intl's own list lacks older names such as America/Montreal.
  }
}
