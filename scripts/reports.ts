/**
 * Writes all that is made of the reports (src/features/reports/catalogue/): output and plots of docs/reporting/reports.md, by the sandbox's
 * business, whose data and days are fixed; dbt's models, and the starter for Superset.
 */
import { mkdirSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentsOf } from './reports/documents.ts';
import { REPORTING, metricsTable, pageWith } from './reports/page.ts';
import { DBT_MODELS, dbtFiles } from './reports/dbt.ts';
import { STARTER, starterFiles } from './reports/superset.ts';

const PAGE = join(REPORTING, 'reports.md');
const { sections, files } = await documentsOf();
writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), { reports: sections, metrics: metricsTable() }));
writeFolder(join(REPORTING, 'reports'), files);
writeFolder(DBT_MODELS, dbtFiles());
writeFolder(STARTER, starterFiles());

/** Leaves nothing else in the folder. */
function writeFolder(folder: string, contents: ReadonlyMap<string, string>): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of contents) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
