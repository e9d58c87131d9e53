import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html } from '../../src/http/html.ts';
import { linkTo, listPage, PAGE_ROWS } from '../../src/dashboard/parts/paging.ts';
import { stepsPath } from '../../src/dashboard/parts/drawings.ts';

describe('HTML', () => {
  test('whatever a text contains, it is a text: no markup begins and no attribute ends in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const written = html`${text}`.html;
        expect(written).not.toMatch(/[<>"']/);
        const read = written.replace(
          /&(lt|gt|quot|#39|amp);/g,
          (_, name: string) =>
          ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name] ?? '', // prettier-ignore
        );
        expect(read).toBe(text);
      }),
    );
  });
});

describe('a spark line', () => {
  test('stays in its box, has a step for each hour, and touches the top with the largest count', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 100 }), (counts) => {
        const heights = [...stepsPath(counts).matchAll(/V([\d.]+)/g)].map(([, height]) => Number(height));
        expect(heights).toHaveLength(counts.length + 1);
        expect(Math.min(...heights)).toBeGreaterThanOrEqual(2);
        expect(Math.max(...heights)).toBeLessThanOrEqual(28);
        if (Math.max(...counts) > 0) expect(Math.min(...heights)).toBe(2);
      }),
    );
  });
});

test('a page of a list goes on after its last row, if there is one more', () => {
  const rows = Array.from({ length: PAGE_ROWS + 1 }, (_, index) => 100 - index);
  expect(listPage(rows, (row) => row)).toEqual({ rows: rows.slice(0, PAGE_ROWS), next: 100 - PAGE_ROWS + 1 });
  expect(listPage(rows.slice(1), (row) => row).next).toBeNull();
  expect(linkTo('/x', { kind: 'a&b', before: undefined, code: '=' })).toBe('/x?kind=a%26b&code=%3D');
});
