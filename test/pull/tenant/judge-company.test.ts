import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCompanies, judgeCompany } from '../../../src/pull/tenant/judge-company.ts';

const KNOWN = new Set(['7', '9']);
const records = (companies: readonly (number | string | null)[]) =>
  companies.map((system_id, id) => ({ id, system_id }));
const judge = (companies: readonly (number | string | null)[]) =>
  judgeCompany(countCompanies(records(companies), KNOWN));

test.each([
  { companies: [], judged: null },
  { companies: [null, null], judged: null },
  { companies: [7, null], judged: 'own' },
  { companies: ['7', 9], judged: 'own' },
  { companies: [8, null], judged: 'other' },
  { companies: [7, 8], judged: 'own' },
  { companies: [7, 8, 10], judged: 'other' },
] as const)('records of $companies are $judged where 7 and 9 are known', ({ companies, judged }) => {
  expect(judge(companies)).toBe(judged);
});

test('what most records name decides, in whatever order', () => {
  const company = fc.constantFrom(7, 9, 8, 10, null);
  fc.assert(
    fc.property(fc.array(company), (companies) => {
      const own = companies.filter((one) => one === 7 || one === 9).length;
      const named = companies.filter((one) => one !== null).length;
      const expected = named === 0 ? null : own >= named - own ? 'own' : 'other';
      expect(judge(companies)).toBe(expected);
      expect(judge(companies.toReversed())).toBe(expected);
    }),
  );
});
