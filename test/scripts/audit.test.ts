import { expect, test } from 'vitest';
import { holesIn } from '../../scripts/audit/holes.ts';

const hole = (name: string) => ({
  name,
  severity: 'high',
  title: `${name} has a hole`,
  url: `https://x.example/${name}`,
});
const REPORT = JSON.stringify({
  auditReportVersion: 2,
  vulnerabilities: {
    pg: { name: 'pg', severity: 'high', via: ['postgres-array'] },
    'postgres-array': { name: 'postgres-array', severity: 'high', via: [hole('postgres-array')] },
    eslint: { name: 'eslint', severity: 'high', via: [hole('eslint')] },
  },
});
const bill = (...names: string[]): string => JSON.stringify({ components: names.map((name) => ({ name })) });

test('a hole of a bundled library is told once, and none of a tool', () => {
  expect(holesIn(REPORT, bill('pg', 'postgres-array'))).toEqual([hole('postgres-array')]);
});

test('a package whose libraries have none passes', () => {
  expect(holesIn(REPORT, bill('pino'))).toEqual([]);
});

test('no answer is no proof', () => {
  expect(() => holesIn('{"message":"405 Method Not Allowed"}', bill('pg'))).toThrow(/405/);
});
