import { expect, test } from 'vitest';
import { shown } from '../../src/audit/shown.ts';
import { isStorable } from '../../src/lib/text/text.ts';

test('short values are shown whole', () => {
  const difference = { field: 'name', service: 'a', mirror: null };
  expect(shown(difference)).toEqual(difference);
});

test('of long values, the place where they part is shown, and never half a character', () => {
  const { service, mirror } = shown({
    field: 'note',
    service: `${'x'.repeat(5_000)}one${'y'.repeat(500)}`,
    mirror: `${'x'.repeat(5_000)}two`,
  });
  expect(service).toBe(`…${'x'.repeat(20)}one${'y'.repeat(55)}…`);
  expect(mirror).toBe(`…${'x'.repeat(20)}two`);
  const smiles = shown({ field: 'note', service: '😀'.repeat(100), mirror: null });
  expect(smiles.service).toBe(`${'😀'.repeat(39)}…`);
  const late = shown({ field: 'note', service: `${'😀'.repeat(100)}a`, mirror: `x${'😀'.repeat(100)}` });
  expect(isStorable(late.service ?? '')).toBe(true);
});
