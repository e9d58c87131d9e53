import { expect, test, describe } from 'vitest';
import type { SourceError } from '../../../src/source/http/errors.ts';
import { refuseCached, unwrapList, unwrapRecord } from '../../../src/source/http/read-answer.ts';
import { parseJson, type Json } from '../../../src/lib/json/json.ts';

const WHERE = 'GET /x';

describe('the headers of a cache', () => {
  test.each([
    { age: '30' },
    { 'x-cache': 'HIT from edge' },
    { 'cf-cache-status': 'hit' },
    { 'x-cache': 'Hit', age: '0' },
    { age: ['7200', '7200'] },
    { age: '0, 7200' },
    { 'x-cache': 'TCP_HIT from a23-1-2-3 (AkamaiGHost)' },
    { 'x-cache': ['MISS', 'hit'] },
    { 'x-cache-status': 'STALE' },
    { 'x-nginx-cache': 'UPDATING' },
    { 'cache-status': 'varnish; hit; ttl=30' },
  ])('A27: an answer with %o is refused: it may be older than one that has landed', (headers) => {
    expect(() => {
      refuseCached({ headers, where: WHERE });
    }).toThrow(
      expect.objectContaining({
        reason: 'cached',
        state: 'invalid',
        passing: { waitMs: null },
      }) as SourceError,
    );
  });

  test.each([
    {},
    { age: '0' },
    { 'x-cache': 'MISS' },
    { 'cf-cache-status': 'DYNAMIC' },
    { age: '0, 0' },
    { 'x-cache': 'TCP_MISS', 'x-cache-lookup': 'HIT from proxy:3128' },
    { 'x-cache': 'TCP_REFRESH_HIT' },
    { 'cache-status': 'varnish; fwd=stale; fwd-status=200' },
    { 'cache-control': 'stale-while-revalidate=30' },
  ])('an answer with %o is the service’s own', (headers) => {
    expect(() => {
      refuseCached({ headers, where: WHERE });
    }).not.toThrow();
  });
});

const fault = (reason: string): object => expect.objectContaining({ reason, state: 'invalid' }) as object;

describe('a list', () => {
  test.each<[string, number]>([
    ['{"success":true,"data":[{"id":1}],"meta":{}}', 1],
    ['{"data":[]}', 0],
    ['{"data":[1,null,"x"]}', 3],
    ['[{"id":1},{"id":2}]', 2],
    ['{"data":[],"meta":[]}', 0],
    ['{"data":[],"meta":null}', 0],
    ['{"data":{"0":{"id":1},"2":{"id":3}},"meta":{}}', 2],
    ['{"0":{"id":1},"2":{"id":3}}', 2],
    ['{"data":[[{"id":1},{"id":2}]]}', 2],
    ['{"data":[{"0":{"id":1},"2":{"id":3}}]}', 2],
    ['[[{"id":1}],[{"id":2}]]', 2],
    ['{"data":{"id":1}}', 1],
    ['{"data":[[]]}', 1], // No list is taken for empty on such a word.
  ])('%s has its records', (text, rows) => {
    expect(unwrapList(parseJson(text), WHERE).records).toHaveLength(rows);
  });

  test.each<[string, string]>([
    ['{"success":false,"data":[]}', 'success_false'],
    ['{"success":true}', 'data_not_a_list'],
    ['{"data":null}', 'data_not_a_list'],
    ['{"data":{}}', 'data_not_a_list'],
    ['{"data":{"name":"x"}}', 'data_not_a_list'],
    ['{"data":{"0":{"id":1},"total":1}}', 'data_not_a_list'],
    ['{"2025":7,"2026":8}', 'data_not_a_list'],
    ['{"data":"[]"}', 'data_not_a_list'],
    ['null', 'data_not_a_list'],
    ['7', 'data_not_a_list'],
    ['{"data":[],"meta":"1"}', 'bad_meta'],
    ['{"data":[],"meta":[1]}', 'bad_meta'],
  ])('B03, B04, A20: %s is refused as %s', (text, reason) => {
    expect(() => unwrapList(parseJson(text), WHERE)).toThrow(fault(reason));
  });

  test.each<[string, number | null]>([
    ['25', 25],
    ['"25"', 25],
    ['25.0', 25],
    ['0', 0],
    ['-1', null],
    ['2.5', null],
    ['"many"', null],
    ['""', null],
    ['null', null],
    ['true', null],
    ['{}', null],
    ['12345678901234567890', null],
  ])('A15: a total of %s is read as %s', (total, expected) => {
    expect(unwrapList(parseJson(`{"data":[],"meta":{"total":${total}}}`), WHERE).meta?.total).toBe(expected);
  });

  test('A13: page numbers below one are none', () => {
    const meta = { current_page: 0, last_page: 0, per_page: 0, total: 0 };
    expect(unwrapList({ data: [], meta }, WHERE).meta).toEqual({
      currentPage: null,
      lastPage: null,
      perPage: 0,
      total: 0,
    });
  });
});

describe('a record', () => {
  test.each<[string, Json]>([
    ['wrapped', { data: { id: 7 } }],
    ['wrapped with success', { data: { id: 7 }, success: true }],
    ['in an array', { data: [{ id: 7 }], success: true }],
    ['bare', { id: 7 }],
    ['bare, with data of its own', { id: 7, data: [] }],
    ['with its id as text', { data: { id: '7' } }],
  ])('comes %s', (_, body) => {
    expect(['7', 7]).toContain(unwrapRecord(body, '7', WHERE)?.['id']);
  });

  test('is not there where data is an empty array', () => {
    expect(unwrapRecord({ data: [] }, '7', WHERE)).toBeNull();
  });

  test.each<[Json, string]>([
    [{ data: { id: 8 } }, 'wrong_record'],
    [{ data: [{ id: 7 }, { id: 7 }] }, 'wrong_record'],
    [{ data: { name: 'x' } }, 'wrong_record'],
    [{ data: null }, 'wrong_record'],
    [null, 'wrong_record'],
    [{ success: false }, 'success_false'],
  ])('%j is refused as %s', (body, reason) => {
    expect(() => unwrapRecord(body, '7', WHERE)).toThrow(fault(reason));
  });
});
