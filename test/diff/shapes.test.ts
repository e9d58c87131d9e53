import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import { judge } from '../../src/diff/judge-page.ts';
import type { Incoming, Stored } from '../../src/diff/judge-page.ts';
import { inListShape, judgeFirstListing } from '../../src/diff/shapes.ts';
import { compactJson, isObject, parseJson } from '../../src/lib/json.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { models, respelled, spell } from '../support/json-models.ts';
import type { Member } from '../support/json-models.ts';

const CLIENTS = kindNamed('clients') ?? expect.fail('no clients');

function incoming(text: string): Incoming {
  const record = parseJson(text);
  return { id: '7', raw: compactJson(record), record: isObject(record) ? record : {} };
}

const stored = (raw: string): Stored => ({ raw, response: 1, isDeleted: false });
const fieldsOf = (record: JsonObject): string[] => Object.keys(record).sort();

describe('a record that was asked for, in the shape of its list', () => {
  test.each<[string, string, string, string]>([
    ['has the newer values', '{"id":7,"name":"old"}', '{"id":7,"name":"new"}', '{"id":7,"name":"new"}'],
    ['has no field that the list leaves out', '{"id":7}', '{"id":7,"notes":"long"}', '{"id":7}'],
    ['keeps what only the list shows', '{"id":7,"balance":1}', '{"id":7}', '{"id":7,"balance":1}'],
    [
      'has the list’s order of fields',
      '{"id":7,"b":1,"a":2}',
      '{"a":3,"b":4,"id":7}',
      '{"id":7,"b":4,"a":3}',
    ],
    ['may say that a field is null', '{"id":7,"name":"old"}', '{"id":7,"name":null}', '{"id":7,"name":null}'],
    ['has numbers as received', '{"id":7,"credit":1.00}', '{"id":7,"credit":2.50}', '{"id":7,"credit":2.50}'],
    ['has fields of any name', '{"id":7,"__proto__":1}', '{"id":7,"__proto__":2}', '{"id":7,"__proto__":2}'],
    ['inherits none', '{"id":7,"toString":1}', '{"id":7}', '{"id":7,"toString":1}'],
  ])('%s', (_name, listed, asked, shaped) => {
    const { id, raw, record } = inListShape(incoming(asked), listed);
    expect([id, raw]).toEqual(['7', shaped]);
    expect(compactJson(record)).toBe(shaped);
  });

  test.each(['null', '[]', '"x"'])('is empty where what is stored is %s and no record', (raw) => {
    expect(inListShape(incoming('{"id":7}'), raw).raw).toBe('{}');
  });
});

describe('the first listing of a row that was only asked for so far', () => {
  test.each<[string, string, string, readonly string[]]>([
    ['no change where both agree', '{"id":7,"name":"a","notes":"x"}', '{"id":7,"name":"a","balance":1}', []],
    ['a change of what both have', '{"id":7,"name":"a","notes":"x"}', '{"id":7,"name":"b"}', ['name']],
    ['no change where a value is spelled otherwise', '{"id":7,"credit":"1.0"}', '{"id":7,"credit":1}', []],
    ['a change to null', '{"id":7,"name":"a"}', '{"id":7,"name":null}', ['name']],
    ['no change by fields with inherited names', '{"id":7}', '{"id":7,"toString":"x"}', []],
  ])('is %s', (_name, asked, listed, fields) => {
    const verdict = judgeFirstListing(CLIENTS, asked, incoming(listed));
    expect(verdict).toEqual({ is: 'changed', fields, before: parseJson(asked) });
  });
});

/** Fields that a list and a retrieve both show, and those that only one of them does. */
const shapes = fc
  .uniqueArray(
    fc.tuple(fc.string({ minLength: 1, maxLength: 6 }), models, fc.constantFrom('both', 'list', 'one')),
    {
      maxLength: 8,
      selector: ([name]) => name,
    },
  )
  // In a documented text a number is kept as it is spelled: 0 and -0 differ there.
  .map((fields) => fields.filter(([name]) => !CLIENTS.fields.some((field) => field.name === name)))
  .map((fields) => {
    const of = (...where: readonly string[]): Member[] =>
      fields.filter(([, , shows]) => where.includes(shows)).map(([name, value]): Member => [name, value]);
    return { both: of('both'), list: of('both', 'list'), one: of('both', 'one') };
  });

const ID: Member = ['id', { number: '7' }];
const text = (members: readonly Member[]): string => spell({ object: [ID, ...members] });

describe('list, retrieve, list', () => {
  test('of a record that does not change shows no change, whatever each of them leaves out', () => {
    fc.assert(
      fc.property(shapes, ({ list, one }) => {
        const listed = incoming(text(list));
        for (const spelled of [
          text(one),
          text(one.map(([name, value]): Member => [name, respelled(value)])),
        ]) {
          const asked = inListShape(incoming(spelled), listed.raw);
          expect(judge(CLIENTS, stored(listed.raw), asked)).toEqual({ is: 'unchanged' });
          expect(judge(CLIENTS, stored(asked.raw), listed)).toEqual({ is: 'unchanged' });
          expect(fieldsOf(asked.record)).toEqual(fieldsOf(listed.record));
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('shows a change once: by whichever of them comes first', () => {
    const changed = fc.tuple(shapes, models).filter(([{ both }]) => both.length > 0);
    fc.assert(
      fc.property(changed, ([{ list, one, both }, value]) => {
        const [name] = both[0] ?? [''];
        const edit = (members: readonly Member[]): Member[] =>
          members.map((member): Member => (member[0] === name ? [name, value] : member));
        const [before, after] = [incoming(text(list)), incoming(text(edit(list)))];
        const asked = inListShape(incoming(text(edit(one))), before.raw);
        expect(judge(CLIENTS, stored(before.raw), asked)).toEqual(judge(CLIENTS, stored(before.raw), after));
        expect(judge(CLIENTS, stored(asked.raw), after)).toEqual({ is: 'unchanged' });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('retrieve, list, retrieve', () => {
  test('of a record that does not change shows no change', () => {
    fc.assert(
      fc.property(shapes, ({ list, one }) => {
        const [asked, listed] = [incoming(text(one)), incoming(text(list))];
        expect(judgeFirstListing(CLIENTS, asked.raw, listed)).toMatchObject({ is: 'changed', fields: [] });
        const again = inListShape(asked, listed.raw);
        expect(judge(CLIENTS, stored(listed.raw), again)).toEqual({ is: 'unchanged' });
      }),
      { numRuns: 1000 },
    );
  });
});
