import { expect, test } from 'vitest';
import { clients } from '../../../src/catalog/kinds/clients.ts';
import { grade } from '../../../src/outbound/send/grade.ts';
import { compactJson, parseJson } from '../../../src/lib/json/json.ts';
import { readWriteAnswer, writtenRecord } from '../../../src/source/http/write-answer.ts';

test.each([
  ['{"id":7,"name":"x"}'],
  ['{"data":{"id":7,"name":"x"}}'],
  ['{"data":{"id":7,"name":"x"},"success":true}'],
  ['{"data":[{"id":7,"name":"x"}],"success":true}'],
  ['{"data":{"0":{"id":7,"name":"x"}}}'],
  ['{"data":[[{"id":7,"name":"x"}]]}'],
])('takes the record out of %s', (body) => {
  expect(writtenRecord(parseJson(body))).toEqual({ id: 7, name: 'x' });
});

test.each(['9007199254740993', '"7"', '"07"', '7.0'])('an id may be %s, and stays it', (id) => {
  const record = writtenRecord(parseJson(`{"data":{"id":${id}}}`));
  expect(compactJson(record)).toBe(`{"id":${id}}`);
});

test.each(
  // prettier-ignore
  [
    '{"data":{"name":"x"}}', '{"data":{"id":null}}', '{"data":{"id":""}}', '{"data":{"id":" "}}',
    '{"data":{"id":true}}', '{"data":{"id":{"id":7}}}', '{"data":[]}', '{"data":[{"id":7},{"id":8}]}',
    '{"data":[[{"id":7},{"id":8}]]}', '{"data":{"0":{"id":7},"2":{"id":8}}}', '{"data":7}', '{"data":null}',
    '{"success":true}', '{"success":false,"data":{"id":7}}', '{"success":0,"id":7}',
    '{"success":"false","id":7}', '{"results":[{"result":{"id":7}}],"success":true}', '{}', '[]', '"id"',
    'null',
  ],
)('finds no record in %s', (body) => {
  expect(writtenRecord(parseJson(body))).toBeNull();
});

test.each<[string, Record<string, string>, string]>([
  ['ambiguous', { 'cf-mitigated': 'block' }, '{"message":"Forbidden"}'],
  ['ambiguous', {}, '<h1>Forbidden</h1>'],
  ['refused', {}, '{"message":"Forbidden"}'],
])('a 403 is %s with headers %j and body %s', (is, headers, body) => {
  const answer = { status: 403, headers, bytes: Buffer.from(body) };
  const about = { kind: clients, where: 'POST /x', token: 'token', receivedAt: new Date(0) };
  expect(grade(readWriteAnswer(answer, about))).toEqual({ is });
});
