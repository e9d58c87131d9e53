import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json.ts';
import { readKnown, readPage } from '../../../src/source/page/list-page.ts';
import type { ListPage } from '../../../src/source/page/list-page.ts';
import { received } from '../lists.ts';

const SALT = 'decoder 1, clients';

interface Landed {
  readonly page: ListPage;
  readonly digests: string;
}

/** A page that was read whole, with the digests that are remembered of it. */
function landed(body: string): Landed {
  const page = readPage({ digestScope: SALT })(received(body));
  return { page, digests: page.digest?.records ?? '' };
}

/** Reads a body as a sweep does, when another has been landed before. */
function after({ page, digests }: Landed, body: string | Buffer, digestScope = SALT): ListPage {
  const { digest, keys } = page;
  const expected = { digestScope, ...(digest && { known: { ...digest, keys } }) };
  const answer = received(body);
  return readKnown(expected)(answer) ?? readPage(expected, digests)(answer);
}

/** What a page says in the end, or the word for what is wrong with it. */
function said(read: () => ListPage): unknown {
  try {
    const { keys, meta, envelope, digest, read: records } = read();
    return { keys: [...keys], meta, envelope, digest: digest?.digest, records: records() };
  } catch (error) {
    return (error as { reason?: unknown }).reason ?? error;
  }
}

const whole = (body: string | Buffer): unknown => said(() => readPage({ digestScope: SALT })(received(body)));

/** The records that a page shows, those that were parsed in place. */
function pieced({ partial, keys }: ListPage): readonly (string | Json)[] | null {
  if (partial === null) return null;
  const [unchanged, changed] = [new Set(partial.unchanged), partial.changed.values()];
  return Array.from(keys, (key) => (unchanged.has(key) ? key : (changed.next().value ?? null)));
}

/** What a page says of records that were not parsed. */
const inPart = ({ partial }: ListPage) => partial && { ...partial, unchanged: [...partial.unchanged] };

const list = (...texts: readonly string[]): string => `{"data":[${texts.join(',')}],"meta":{"total":9}}`;

/** Contents that look like the ends of records, spelled in several ways. */
const TEXTS = [
  '""',
  '"]},{"',
  '"\\""',
  '"\\\\"',
  '"\\u005d"',
  '"é\\ud83c\\udf41"',
  '"\ufeff"',
  '[[],{"a":[]}]',
  '-0.0',
  '12345678901234567890',
  'null',
];
const recordTexts = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(...TEXTS), fc.constantFrom('', ' ', '\n'))
  .map(([id, value, space]) => `{"id":${id},${space}"a":${value}${space}}`);
const odd = fc.constantFrom('{"id":3,"id":4}', '{"id":"5"}', '{"a":1}', 'null', '7', '[]', '{"id":6.0}');
const pages = fc.array(fc.oneof({ weight: 8, arbitrary: recordTexts }, odd), { maxLength: 8 });

/** A page, and what it became: records edited, moved, taken out, put in and shown twice. */
const pagesInTurn = fc
  .tuple(pages, fc.array(fc.tuple(fc.nat(3), fc.nat(9), recordTexts), { maxLength: 3 }))
  .map(([before, edits]) => {
    const later = [...before];
    for (const [deed, at, text] of edits) {
      if (deed === 0) later.splice(at, 1, text);
      if (deed === 1) later.splice(at, 0, ...later.splice(0, 1));
      if (deed === 2) later.splice(at, 1);
      if (deed === 3) later.splice(at, 0, before[0] ?? text);
    }
    return [list(...before), list(...later)] as const;
  });

describe('any page that was another before', () => {
  test('says what it says when nothing is known', () => {
    fc.assert(
      fc.property(pagesInTurn, ([before, later]) => {
        expect(said(() => after(landed(before), later))).toEqual(whole(later));
      }),
      { numRuns: 2000 },
    );
  });

  test('shows each record that was parsed in its place, and of the others their ids', () => {
    let partial = 0;
    fc.assert(
      fc.property(pagesInTurn, ([before, later]) => {
        const page = after(landed(before), later);
        const shown = pieced(page);
        if (shown === null) return;
        partial++;
        const records = readPage({ digestScope: SALT })(received(later)).read();
        const known = landed(before).page;
        for (const [index, each] of shown.entries()) {
          if (typeof each !== 'string') expect(each).toEqual(records[index]);
          else
            expect(known.read().filter((_, at) => known.keys.at(at) === each)).toContainEqual(records[index]);
        }
        expect(page.digest).toEqual(landed(later).page.digest);
      }),
      { numRuns: 3000 },
    );
    expect(partial).toBeGreaterThan(300);
  });

  test('says what it says when nothing is known, bent in any way', () => {
    const bent = fc.tuple(
      pagesInTurn,
      fc.nat(),
      fc.nat(8),
      fc.constantFrom('', '"', ']', '}', '{', ',', '\\', '\xff', '1.5', ',"data":[]'),
    );
    fc.assert(
      fc.property(bent, ([[before, later], place, length, put]) => {
        const body = Buffer.from(later);
        const at = place % (body.length + 1);
        const cut = [body.subarray(0, at), Buffer.from(put, 'latin1'), body.subarray(at + length)];
        const other = Buffer.concat(cut);
        expect(said(() => after(landed(before), other))).toEqual(whole(other));
      }),
      { numRuns: 3000 },
    );
  });
});

const [A, B, C] = ['{"id":1,"a":"é ]"}', '{"id":2,"a":"}"}', '{"id":3,"a":"{"}'];

describe('a page of which a record has changed', () => {
  test('is parsed there alone', () => {
    const page = after(landed(list(A, B, C)), list(A, '{"id":2,"a":"new"}', C));
    expect(inPart(page)).toEqual({ unchanged: ['1', '3'], changed: [{ id: 2, a: 'new' }] });
    expect(page).toMatchObject({ isKnown: false, meta: { total: 9 } });
    expect([...page.keys]).toEqual(['1', '2', '3']);
    expect(page.read()).toHaveLength(3);
  });

  test('is parsed nowhere where records only moved or went', () => {
    expect(inPart(after(landed(list(A, B, C)), list(C, A)))).toEqual({
      ...{ unchanged: ['3', '1'], changed: [] },
    });
  });

  test.each([
    ['a record comes twice', list(A, B, B)],
    ['a record comes twice, once changed', list(A, '{"id":1,"a":2}', C)],
    ['a record comes twice, once as text', list(A, '{"id":"1"}')],
    ['nothing is as it was', list('{"id":1}', '{"id":2}')],
    ['the list is empty', list()],
    ['"data" comes again', `{"data":[${A}],"data":[${A},${C}]}`],
    ['"data" comes again, spelled otherwise', `{"data":[${A}],"d\\u0061ta":[${C}]}`],
  ])('is parsed whole where %s', (_, body) => {
    const page = after(landed(list(A, B, C)), body);
    expect(page.partial).toBeNull();
    expect(said(() => page)).toEqual(whole(body));
  });

  test('is parsed whole under another digestScope, and where the digests are of another page', () => {
    const before = landed(list(A, B, C));
    expect(after(before, list(A, B), 'decoder 2').partial).toBeNull();
    const fewer = landed(list(A, B)).digests;
    expect(after({ ...before, digests: fewer }, list(A, B)).partial).toBeNull();
    expect(after({ ...before, digests: '' }, list(A, B)).partial).toBeNull();
  });

  test.each([
    ['B03', `{"success":false,"data":[${A}]}`, 'success_false'],
    ['B23', `{"data":[${A},]}`, 'not_json'],
    ['B23', `{"data":[${A} ${B}]}`, 'not_json'],
    ['B23', `{"data":[${A},${B}`, 'not_json'],
    ['B23', `{"data":[${A},{"id":9]}`, 'not_json'],
    ['B23', `{"data":[${A},{"id":9]]}`, 'not_json'],
    ['B23', `{"data":[${A},1"x,y"2]}`, 'not_json'],
    ['B14', `{"data":[${A},${'['.repeat(100_000)}1.5${']'.repeat(100_000)}]}`, 'too_deep'],
  ])('%s: is refused as ever for what else is wrong with it (%#)', (_, body, reason) => {
    expect(said(() => after(landed(list(A, B, C)), body))).toBe(reason);
  });

  test('one byte within a record makes it another record', () => {
    const before = landed(list(A, B, C));
    for (let at = 0; at < B.length; at++) {
      const other = `${B.slice(0, at)}${B[at] === '7' ? '9' : '7'}${B.slice(at + 1)}`;
      expect(said(() => after(before, list(A, other, C)))).toEqual(whole(list(A, other, C)));
    }
  });
});
