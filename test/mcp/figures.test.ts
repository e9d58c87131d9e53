import { Big } from 'big.js';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { liveThrough } from '../../scripts/reports/business.ts';
import { describeMissing } from '../../src/report/catalogue/report.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Row } from '../../src/db/session/session.ts';
import { METRICS, groupsOf, type NamedMetric } from '../../src/mcp/figures.ts';
import { sandbox } from '../pull/support.ts';
import { askableMirror, DATABASES } from './stage.ts';

/** The sum of a column over the rows of a report, computed apart: as texts of the report's own exact columns. */
function sumOf({ column }: NamedMetric, rows: readonly Row[]): string | null {
  const values = rows.map((row) => row[column] ?? null).filter((value) => value !== null);
  if (values.length === 0) return null;
  const sum = values.reduce((total: Big, value) => total.plus(new Big(String(value))), new Big(0));
  return column.endsWith('_e4') ? sum.div(10_000).toFixed(4) : sum.toFixed(0);
}

/** The total of a report over lists that are all proven: without a row it is nothing, and no unknown. */
const totalOf = (metric: NamedMetric, rows: readonly Row[]): string | null =>
  rows.length > 0 ? sumOf(metric, rows) : metric.column.endsWith('_e4') ? '0.0000' : '0';

describe.each(DATABASES)('%s', (database) => {
  test('figure equals the report and sums computed apart', async () => {
    const service = await sandbox({ size: 60 });
    const { session, ask } = await askableMirror(database);
    await liveThrough(service, [session], 2);
    let asked = 0;
    await expect(ask('figure', { metric: 'sales' })).rejects.toThrow('set includeKinds: [shop]');
    const views = KINDS.map((kind) => `bi_${kind.name}`);
    for (const metric of METRICS.filter(({ report }) => describeMissing(report, views) === null)) {
      const { report, name } = metric;
      const rows = await session.query(sql.raw(report.sql));
      const total = await ask('figure', { metric: name });
      expect.soft(total.rows, name).toEqual([[totalOf(metric, rows)]]);
      asked += 1;
      for (const by of groupsOf(report)) {
        const answer = await ask('figure', { metric: name, by });
        const groups = Map.groupBy(rows, (row) => (row[by] === null ? null : String(row[by])));
        const expected = [...groups].map(([value, members]) => [value, sumOf(metric, members)]);
        expect.soft(answer.totalRows, `${name} by ${by}`).toBe(expected.length);
        if (!answer.truncated)
          expect
            .soft(new Map(answer.rows as [string, string][]))
            .toEqual(new Map(expected as [string, string][]));
        asked += 1;
      }
      const { time } = report;
      if (time === null) continue;
      const times = rows
        .map((row) => String(row[time.column]))
        .filter((at) => at !== 'none')
        .toSorted();
      const from = times[0];
      const to = times[Math.floor(times.length / 2)];
      for (const period of [{ from }, { to }, { from, to }]) {
        const within = rows.filter((row) => {
          const at = String(row[time.column]);
          return at !== 'none' && at >= (period.from ?? '') && at <= (period.to ?? '9');
        });
        const answer = await ask('figure', { metric: name, ...period });
        expect.soft(answer.rows, `${name} ${JSON.stringify(period)}`).toEqual([[totalOf(metric, within)]]);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThanOrEqual(100);
  });
});
