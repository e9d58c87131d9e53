import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUnusualEnvelope } from '../../../src/source/http/read-answer.ts';
import { parseJson } from '../../../src/lib/json/json.ts';
import {
  unchangedPageReader,
  pageReader,
  type KnownPageHint,
  type ListPage,
  type KnownPage,
} from '../../../src/source/paging/list-page.ts';
import type { ReceivedAnswer } from '../../../src/source/http/http.ts';
import { sized } from '../../support/tiers.ts';
import { lists, received, textOf } from '../lists.ts';

const RUNS = sized({ quick: 150, acceptance: 1_000, deep: 1_000 });
const SALT = 'decoder 1, clients';

function knownAs(records: string, keys: readonly string[] = []): KnownPage {
  const digest = createHash('sha256').update(SALT).update(records).digest('hex');
  return { digest, bytes: Buffer.byteLength(records), keys };
}

/** The page that a body shows, as it is known from then on. */
function landed(body: string | Uint8Array): KnownPage | null {
  const { pageHash, keys } = pageReader({ rulesDigest: SALT })(received(body));
  return pageHash && { ...pageHash, keys };
}

/** Reads an answer as a sweep does. */
const reader = (expected: KnownPageHint) => (answer: ReceivedAnswer) =>
  unchangedPageReader(expected)(answer) ?? pageReader(expected)(answer);

const again = (body: string | Uint8Array, known: KnownPage | null, rulesDigest = SALT): ListPage =>
  reader({ rulesDigest, ...(known && { known }) })(received(body));

/** A page with its keys as an array. */
const plain = (page: ListPage) => ({ ...page, keys: [...page.keys] });

/** What a page says, or the word for what is wrong with it. */
function resultOf(read: () => ListPage): unknown {
  try {
    const page = read();
    const left = { isUnchanged: null, pageHash: null, read: null, texts: null };
    return { ...plain(page), records: page.read(), ...left };
  } catch (error) {
    return (error as { reason?: unknown }).reason ?? error;
  }
}

/** Whether a page was read whose records stand in a plain array: any other is parsed every time. */
const isPlain = (page: unknown): boolean =>
  typeof page !== 'string' && !isUnusualEnvelope((page as ListPage).envelope);

describe('any list', () => {
  test('has the digest of the text of its records and nothing else', () => {
    fc.assert(
      fc.property(lists, (list) => {
        fc.pre(isPlain(resultOf(() => pageReader({})(received(textOf(list))))));
        const { bytes, digest } = knownAs(list.records);
        expect(landed(textOf(list))).toMatchObject({ bytes, digest });
      }),
      { numRuns: RUNS },
    );
  });

  test('is known when it comes again, and says the same', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const body = textOf(list);
        const parsed = resultOf(() => pageReader({})(received(body)));
        fc.pre(isPlain(parsed));
        const page = again(body, landed(body));
        expect(page.isUnchanged).toBe(true);
        expect(pageReader({ rulesDigest: SALT })(received(body)).pageHash).toMatchObject({
          ...page.pageHash,
        });
        expect(resultOf(() => page)).toEqual(parsed);
      }),
      { numRuns: RUNS },
    );
  });

  test('that has changed gives the text of each record', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const body = textOf(list);
        fc.pre(typeof resultOf(() => pageReader({})(received(body))) !== 'string');
        const page = pageReader({ rulesDigest: SALT, known: knownAs('[]') })(received(body));
        const texts = page.texts ?? [];
        expect(texts.map(parseJson)).toEqual(page.pageHash === null ? [] : page.read());
        expect(`[${texts.join(',')}]`).toBe(
          page.pageHash === null || texts.length === 0 ? '[]' : list.records,
        );
      }),
      { numRuns: RUNS },
    );
  });

  test('that is bent in any way says what it says when nothing is known', () => {
    const bent = fc.tuple(
      lists,
      fc.nat(),
      fc.nat(8),
      fc.constantFrom('', '"', ']', ',"data":[]', '}', '\\', '\xff', '1.5'),
    );
    fc.assert(
      fc.property(bent, ([list, place, length, put]) => {
        const body = Buffer.from(textOf(list));
        fc.pre(typeof resultOf(() => pageReader({})(received(body))) !== 'string');
        const known = landed(body);
        const at = place % (body.length + 1);
        const other = Buffer.concat([
          body.subarray(0, at),
          Buffer.from(put, 'latin1'),
          body.subarray(at + length),
        ]);
        expect(resultOf(() => again(other, known))).toEqual(resultOf(() => pageReader({})(received(other))));
      }),
      { numRuns: 2 * RUNS },
    );
  });
});

const RECORDS = '[{"id":7,"name":"é ]"},{"id":"8"},{"name":"without"}]';
const KNOWN = knownAs(RECORDS, ['7', '8', '{"name":"without"}']);

describe('a page with the records of the known one', () => {
  test('is not parsed until it is read', () => {
    const page = again(`{"success":true,"data":${RECORDS},"meta":{"total":3}}`, KNOWN);
    expect(plain(page)).toMatchObject({ isUnchanged: true, keys: KNOWN.keys, envelope: 'data meta success' });
    expect(page.pageHash).toEqual({ digest: KNOWN.digest, bytes: KNOWN.bytes });
    expect(page.read()).toEqual([{ id: 7, name: 'é ]' }, { id: '8' }, { name: 'without' }]);
    expect(page.read()).toBe(page.read());
  });

  test.each([
    [`{"data":${RECORDS},"meta":{"total":9}}`, 9],
    [`{"meta":{"total":"9","data":[]},"data" :\n${RECORDS}}`, 9],
    [`{"data":${RECORDS},"meta":{"total":9.0}}`, 9],
    [`{"data":${RECORDS},"meta":null}`, undefined],
    [`\ufeff ${RECORDS}\n`, undefined],
  ])('tells what is new around them: %s', (body, total) => {
    const page = again(body, KNOWN);
    expect(page.isUnchanged).toBe(true);
    expect(page.meta?.total).toBe(total);
  });

  test.each<[string, string | Buffer, string]>([
    ['B03', `{"success":false,"data":${RECORDS}}`, 'success_false'],
    ['B03', `{"data":${RECORDS},"success":false}`, 'success_false'],
    ['A20', `{"data":${RECORDS},"meta":"1"}`, 'bad_meta'],
    ['B04', `{"data":${RECORDS},"data":null}`, 'data_not_a_list'],
    ['B23', `{"data":${RECORDS}`, 'not_json'],
    ['B23', `{"data":${RECORDS}}}`, 'not_json'],
    ['B23', `{"data":${RECORDS},}`, 'not_json'],
    ['B23', `${RECORDS}]`, 'not_json'],
    ['B23', `{"x":[}],"data":${RECORDS}}`, 'not_json'],
    [
      'B16',
      Buffer.concat([Buffer.from(`{"data":${RECORDS},"x":"`), Buffer.from([0xe9, 0x22, 0x7d])]),
      'not_utf8',
    ],
    [
      'B16',
      Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xe9]), Buffer.from(`","data":${RECORDS}}`)]),
      'not_utf8',
    ],
  ])('%s: is refused for what stands around them: %s', (_, body, reason) => {
    expect(resultOf(() => again(body, KNOWN))).toBe(reason);
  });

  test('B03: is refused as a failure, without a word of it', () => {
    const body = `{"success":false,"message":"Out of order","data":${RECORDS}}`;
    expect(() => again(body, KNOWN)).toThrow('GET /x: got an object with 3 members, expected');
  });

  test('is refused where it is compressed, or has another status', () => {
    const answer = received(RECORDS);
    const read = reader({ rulesDigest: SALT, known: KNOWN });
    const fault = (reason: string) => expect.objectContaining({ reason }) as Error;
    expect(() => read({ ...answer, headers: { 'content-encoding': 'gzip' } })).toThrow(fault('not_json'));
    expect(() => read({ ...answer, status: 500 })).toThrow(fault('unavailable'));
  });

  test('another digestScope makes them other records', () => {
    const page = again(RECORDS, KNOWN, 'decoder 2, clients');
    expect(page.isUnchanged).toBe(false);
    expect(page.pageHash).not.toBeNull();
    expect(page.pageHash?.digest).not.toBe(KNOWN.digest);
  });

  test('without a digestScope nothing is known, and no digest made', () => {
    expect(reader({ known: KNOWN })(received(RECORDS))).toMatchObject({ isUnchanged: false, pageHash: null });
  });
});

describe('a page that is not the known one', () => {
  test('one byte within the records is enough', () => {
    for (let at = 0; at < RECORDS.length; at++) {
      const other = `${RECORDS.slice(0, at)}${RECORDS[at] === '7' ? '9' : '7'}${RECORDS.slice(at + 1)}`;
      const body = `{"data":${other}}`;
      expect(resultOf(() => again(body, KNOWN))).toEqual(resultOf(() => pageReader({})(received(body))));
    }
  });

  test.each([
    ['twice', `{"data":${RECORDS},"data":[{"id":1}]}`, ['1']],
    ['twice, with another spelling', `{"data":${RECORDS},"d\\u0061ta":[{"id":1}]}`, ['1']],
    ['twice, the known one last', `{"data":[{"id":1}],"data":${RECORDS}}`, KNOWN.keys],
    ['twice the same', `{"data":${RECORDS},"data":${RECORDS}}`, KNOWN.keys],
    ['further in as well', `{"x":{"data":${RECORDS}},"data":[{"id":1}]}`, ['1']],
    ['in a string', `{"x":"\\"data\\":${RECORDS.replaceAll('"', '\\"')}","data":[{"id":1}]}`, ['1']],
  ])('"data" that stands there %s counts as in any JSON', (_, body, keys) => {
    const page = again(body, KNOWN);
    expect(plain(page)).toMatchObject({ isUnchanged: false, keys });
  });

  test.each([
    `{"data":[{"id":1}],"data":${RECORDS}}`,
    `{"data":${RECORDS},"data":${RECORDS}}`,
    `{"data":null,"data":${RECORDS}}`,
    `{"d\\u0061ta":${RECORDS}}`,
    `{"data":${RECORDS},"d\\u0061ta":[]}`,
  ])('has no digest where its records cannot be told for certain: %s', (body) => {
    expect(pageReader({ rulesDigest: SALT })(received(body)).pageHash).toBeNull();
  });
});

test('a record is told from its neighbours by its id, as text however it was sent', () => {
  const body = '[{"id":7},{"id":"7"},{"id":12345678901234567890},{"id":""},{"id":null},{"a":1},5,null]';
  expect([...pageReader({})(received(body)).keys]).toEqual([
    '7',
    '7',
    '12345678901234567890',
    '{"id":""}',
    '{"id":null}',
    '{"a":1}',
    '5',
    'null',
  ]);
});
