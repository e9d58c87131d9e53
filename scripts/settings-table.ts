/** Writes what is generated from the schema of settings: config/default.yaml and the table of docs/settings.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultYaml, settingsTable } from './settings-texts.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/settings.md');
const MARKED = /(<!-- settings -->).*(<!-- \/settings -->)/s;

writeFileSync(join(ROOT, 'config/default.yaml'), defaultYaml());

const page = readFileSync(PAGE, 'utf8');
if (!MARKED.test(page)) throw new Error('docs/settings.md has no <!-- settings --> … <!-- /settings -->');
writeFileSync(
  PAGE,
  page.replace(MARKED, (_, open: string, close: string) => `${open}\n\n${settingsTable()}\n\n${close}`),
);
