import { describe, expect, test } from 'vitest';
import {
  findCodedError,
  describeNetworkFault,
  toSourceError,
} from '../../../src/source/http/network-faults.ts';

const failing = (code: string, more: object = {}): Error => Object.assign(new Error('x'), { code, ...more });

const wordsOf = (error: Error): string =>
  describeNetworkFault(findCodedError(error) ?? expect.fail('no code'));

describe('an error of the network is worded', () => {
  test.each([
    ['ENOTFOUND', { hostname: 'a.example' }, 'the host name a.example is unknown (ENOTFOUND)'],
    ['ECONNREFUSED', { address: '10.0.0.7', port: 443 }, 'nothing listens at 10.0.0.7:443 (ECONNREFUSED)'],
    ['ECONNREFUSED', {}, 'nothing listens at the host (ECONNREFUSED)'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', {}, /^https:\/\/ speaks TLS to a plain-HTTP port; use http:\/\/ /],
    ['CERT_HAS_EXPIRED', {}, /has expired.*clock/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', {}, /^the certificate is for another host name/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', {}, /not trusted.*NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', {}, /not trusted.*NODE_EXTRA_CA_CERTS/],
    ['UND_ERR_SOCKET', { socket: { bytesRead: 0 } }, /^the connection was closed without an answer;.*https/],
    [
      'UND_ERR_SOCKET',
      { socket: { bytesRead: 9 } },
      /^the connection was closed before the answer was whole/,
    ],
    ['ECONNRESET', {}, /^the connection was closed before the answer was whole/],
    ['CERT_NOT_YET_VALID', {}, /is not valid yet.*clock/],
    ['CERT_SIGNATURE_FAILURE', {}, 'there was no usable answer: x (CERT_SIGNATURE_FAILURE)'],
    ['UND_ERR_NEW_AND_UNKNOWN', {}, 'there was no usable answer: x (UND_ERR_NEW_AND_UNKNOWN)'],
  ])('%s %j', (code, more, words) => {
    expect(wordsOf(failing(code, more))).toMatch(words);
  });

  test('by the place of the first address where several were tried', () => {
    const tried = [1, 2].map((port) => failing('ECONNREFUSED', { address: '::1', port }));
    const error = Object.assign(new AggregateError(tried), { code: 'ECONNREFUSED' });
    expect(wordsOf(error)).toContain('::1:1');
  });
});

describe('what a call of undici throws', () => {
  test.each([
    'EADDRNOTAVAIL',
    'EMFILE',
    'ENOBUFS',
    'INVALID_PURPOSE',
    'EE_KEY_TOO_SMALL',
    'A_CODE_OF_TOMORROW',
  ])('is a fault of the service or of the way to it: %s', (code) => {
    expect(toSourceError(failing(code), 'GET /api/clients')).toMatchObject({
      code: 'source.unreachable',
      message: `GET /api/clients: there was no usable answer: x (${code})`,
    });
  });

  test('is ours where JavaScript or undici refuse what they were given', () => {
    const ours = [
      new TypeError('not a function'),
      failing('UND_ERR_INVALID_ARG'),
      failing('ERR_INVALID_ARG_TYPE'),
      Object.assign(new RangeError('x'), { code: 'ERR_OUT_OF_RANGE' }),
    ];
    expect(ours.map((error) => toSourceError(error, 'GET /'))).toEqual(ours);
    const connecting = Object.assign(new TypeError('fetch failed'), { cause: failing('ECONNREFUSED') });
    expect(toSourceError(connecting, 'GET /')).toMatchObject({ code: 'source.unreachable' });
  });
});
