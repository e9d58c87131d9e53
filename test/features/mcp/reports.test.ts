import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { liveThrough } from '../../../scripts/reports/business.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { REPORT_FOLDER, REPORTS } from '../../../src/features/reports/read-reports.ts';
import { describeMissing } from '../../../src/features/reports/report.ts';
import { sandbox } from '../../pull/support.ts';
import { askableMirror, DATABASES } from './stage.ts';

const VIEWS = KINDS.map((kind) => `bi_${kind.name}`);

describe.each(DATABASES)('%s', (database) => {
  test('report gives the rows of the SQL that is shipped under its name', async () => {
    const { session, ask } = await askableMirror(database);
    await liveThrough(await sandbox({ size: 60 }), [session], 2);
    await expect(ask('report', { name: 'sales-by-month' })).rejects.toThrow('set includeKinds: [shop]');
    await expect(ask('report', { name: 'bookings' })).rejects.toMatchObject({ code: 'report.absent' });
    const reports = REPORTS.filter((report) => describeMissing(report, VIEWS) === null);
    for (const { name, notes } of reports) {
      const shipped = readFileSync(join(REPORT_FOLDER, `${name}.sql`), 'utf8');
      const rows = await session.query(sql.raw(shipped));
      const expected = rows.map((row) =>
        Object.values(row).map((value) => (value === null ? null : String(value))),
      );
      const answer = await ask('report', { name });
      expect.soft(answer.rows, name).toEqual(expected.slice(0, answer.returned));
      expect.soft(answer, name).toMatchObject({ truncated: answer.returned < rows.length });
      const shown = JSON.stringify(answer['notes']);
      expect.soft(shown, name).not.toMatch(/`|\]\(/);
      for (const plain of notes.filter((note) => !/[`[]/.test(note))) expect.soft(shown).toContain(plain);
    }
    expect(reports.length).toBeGreaterThan(9);
  });
});
