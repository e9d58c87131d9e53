/** Writes what is generated from the schema of settings: config/default.yaml and the README's table. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultYaml } from '../src/config/default-yaml.ts';
import { settingsTable } from '../src/config/settings-table.ts';

const ROOT = join(import.meta.dirname, '..');
const README = join(ROOT, 'README.md');
const MARKED = /(<!-- settings -->).*(<!-- \/settings -->)/s;

writeFileSync(join(ROOT, 'config/default.yaml'), defaultYaml());

const readme = readFileSync(README, 'utf8');
if (!MARKED.test(readme)) throw new Error('README.md has no <!-- settings --> … <!-- /settings -->');
writeFileSync(
  README,
  readme.replace(MARKED, (_, open: string, close: string) => `${open}\n\n${settingsTable()}\n\n${close}`),
);
