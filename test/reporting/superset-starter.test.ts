import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { REPORTS, sqlOf } from '../../scripts/reports/reports.ts';
import { STARTER, starterFiles } from '../../scripts/reports/superset.ts';

const text = (name: string): string => readFileSync(join(STARTER, name), 'utf8');

test('the starter for Superset asks the SQL of the reports', () => {
  for (const report of REPORTS) {
    const dataset = parse(text(`datasets/mirror/${report.name}.yaml`)) as { sql: string };
    expect(dataset.sql, report.name).toBe(sqlOf(report));
  }
});

test('its files are those that `npm run docs:reports` writes', () => {
  const written = starterFiles();
  for (const [name, content] of written) expect(text(name), name).toBe(content);
  const present = readdirSync(STARTER, { recursive: true, encoding: 'utf8' });
  const files = present.filter((name) => statSync(join(STARTER, name)).isFile());
  expect(files.sort()).toEqual([...written.keys()].sort());
});
