import { expect, test } from 'vitest';
import { readTree } from '../../scripts/house/tree.ts';
import {
  retiredInComments,
  retiredInDocuments,
  retiredNames,
  retiredTurns,
} from '../../scripts/house/wording.ts';

const FILES = ['src', 'sandbox', 'test', 'scripts', 'bench'].flatMap((name) => readTree(name).files);

test('no identifier is a retired word', () => {
  expect(retiredNames(FILES)).toEqual([]);
});

test('comments and documents have few retired turns', () => {
  expect(listUnless(retiredInComments(FILES))).toEqual([]);
  expect(listUnless(retiredInDocuments())).toEqual([]);
});

test('finds a retired turn across a line break, once', () => {
  expect(retiredTurns('page.md', 'It has\none row a\ncell, nor was it told.')).toHaveLength(3);
  expect(retiredTurns('page.md', 'It has no limit, and there is no list.')).toEqual([]);
});

/** The hits, once there are too many, so that a failing test shows where they stand. */
function listUnless<Hit>(hits: readonly Hit[]): readonly Hit[] {
  return hits.length > 60 ? hits : [];
}
