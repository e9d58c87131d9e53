/**
 * Writes the output and the plots of docs/reporting/reports.md, and the starter for Superset: of the sandbox's business, whose
 * data and days are fixed.
 */
import { mkdirSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentsOf } from './reports/documents.ts';
import { REPORTING } from './reports/reports.ts';
import { STARTER, starterFiles } from './reports/superset.ts';

const PAGE = join(REPORTING, 'reports.md');
const MARKED = /(<!-- reports -->).*(<!-- \/reports -->)/s;

const { sections, plots } = await documentsOf();
const page = readFileSync(PAGE, 'utf8');
if (!MARKED.test(page)) throw new Error(`${PAGE} has no <!-- reports --> … <!-- /reports -->`);
writeFileSync(
  PAGE,
  page.replace(MARKED, (_, open: string, close: string) => `${open}\n\n${sections}\n\n${close}`),
);
for (const [name, svg] of plots) writeFileSync(join(REPORTING, 'reports', name), svg);
rmSync(STARTER, { recursive: true, force: true });
for (const [name, text] of starterFiles()) {
  const path = join(STARTER, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
