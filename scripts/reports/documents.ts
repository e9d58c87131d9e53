import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { REPORTS } from '../../src/features/reports/read-reports.ts';
import { migrate } from '../../src/views/migrate.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { FIRST_DAY, SHOP_KINDS, changeClosedMonths, liveThrough } from './business.ts';
import { plotOf, sectionOf } from './page.ts';
import { svgOf } from './plot.ts';

const SIZE = 400;
const DAYS = 12;
/** What the sandbox's statuses count as; its quotes and orders count as nothing. */
const COUNTED = { sold: ['invoice'], owed: ['invoice'], bought: ['received', 'invoiced'] };

/** What docs/reporting/reports.md shows of the reports: always the same texts. */
export interface ReportDocuments {
  readonly sections: string;
  /** The plots of docs/reporting/reports, by the names of their files. */
  readonly files: ReadonlyMap<string, string>;
}

/** Runs the reports over the sandbox's business after some days of work. */
export async function documentsOf(): Promise<ReportDocuments> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-reports-'));
  try {
    await using sandbox = await startSandbox({ size: SIZE, today: new Date(FIRST_DAY) });
    await using session = await openSession(`file:${join(folder, 'mirror.db')}`);
    await migrate(session, SHOP_KINDS, { readerRole: null, reports: COUNTED });
    await liveThrough(sandbox, [session], DAYS, SHOP_KINDS);
    await changeClosedMonths(sandbox, [session], '2025-10-11T16:00:00Z');
    return await draw(session);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function draw(session: Session): Promise<ReportDocuments> {
  const sections: string[] = [];
  const files = new Map<string, string>();
  for (const report of REPORTS) {
    const rows = await session.query(sql.raw(report.sql));
    sections.push(sectionOf(report, rows));
    files.set(`${report.name}.svg`, svgOf(plotOf(report, rows)));
  }
  return { sections: sections.join('\n\n'), files };
}
