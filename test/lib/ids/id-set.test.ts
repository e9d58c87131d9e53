import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdSet } from '../../../src/lib/ids/id-set.ts';
import { betweenCommas } from '../../../src/lib/text/text-list.ts';

const LARGEST = 2n ** 63n - 1n;
const ids = fc
  .oneof(
    fc.bigInt(1n, 20n),
    ...[9n, 10n, 15n, 16n].map((digits) => fc.bigInt(10n ** digits - 3n, 10n ** digits + 2n)),
    fc.bigInt(1n, LARGEST),
    fc.bigInt(LARGEST - 5n, LARGEST),
  )
  .map(String);

test('counts distinct ids as a Set does, asked at any time', () => {
  fc.assert(
    fc.property(fc.array(fc.option(ids, { freq: 4 }), { maxLength: 300 }), (steps) => {
      const [set, model] = [createIdSet(), new Set<string>()];
      for (const id of steps) {
        if (id !== null) {
          set.add(id);
          model.add(id);
        }
        if (id === null) expect(set.size()).toBe(model.size);
      }
      expect(set.size()).toBe(model.size);
    }),
  );
});

test('counts those of lists, whether they are one text or many', () => {
  const pages = fc.array(fc.tuple(fc.array(ids, { maxLength: 30 }), fc.boolean()), { maxLength: 20 });
  fc.assert(
    fc.property(pages, (lists) => {
      const [set, model] = [createIdSet(), new Set<string>()];
      for (const [list, isText] of lists) {
        set.addAll(isText ? betweenCommas(list.join()) : list);
        for (const id of list) model.add(id);
        expect(set.size()).toBe(model.size);
      }
    }),
  );
});

test.each([0, 1, 1023, 1024, 1025, 5000])('counts %i ids, each given thrice', (count) => {
  const set = createIdSet();
  for (let round = 0; round < 3; round++) {
    for (let id = count; id > 0; id--) set.add(String(id));
    expect(set.size()).toBe(count);
  }
});

test('C03: ids that a float would merge are two', () => {
  const set = createIdSet();
  for (const id of ['9007199254740992', '9007199254740993', '9223372036854775807', '9223372036854775806'])
    set.add(id);
  expect(set.size()).toBe(4);
});
