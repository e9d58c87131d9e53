import { describe, expect, test } from 'vitest';
import { findCodedError, describeNetworkFault } from '../../../src/source/http/network-faults.ts';

const failing = (code: string, more: object = {}): Error => Object.assign(new Error('x'), { code, ...more });

const wordsOf = (error: Error): string =>
  describeNetworkFault(findCodedError(error) ?? expect.fail('no code'));

describe('an error of the network is worded', () => {
  test.each([
    ['ENOTFOUND', { hostname: 'a.example' }, 'the host name a.example is unknown (ENOTFOUND)'],
    ['ECONNREFUSED', { address: '10.0.0.7', port: 443 }, 'nothing listens at 10.0.0.7:443 (ECONNREFUSED)'],
    ['ECONNREFUSED', {}, 'nothing listens at the host (ECONNREFUSED)'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', {}, /^https:\/\/ speaks TLS to a plain-HTTP port; use http:\/\/ /],
    ['CERT_HAS_EXPIRED', {}, /^the certificate has expired/],
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
    ['UND_ERR_NEW_AND_UNKNOWN', {}, 'there was no usable answer (UND_ERR_NEW_AND_UNKNOWN)'],
  ])('%s %j', (code, more, words) => {
    expect(wordsOf(failing(code, more))).toMatch(words);
  });

  test('by the place of the first address where several were tried', () => {
    const tried = [1, 2].map((port) => failing('ECONNREFUSED', { address: '::1', port }));
    const error = Object.assign(new AggregateError(tried), { code: 'ECONNREFUSED' });
    expect(wordsOf(error)).toContain('::1:1');
  });
});
