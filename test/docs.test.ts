import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { knownTerms } from '../scripts/spell-words.ts';
import { settingsTable } from '../scripts/settings-texts.ts';

const ROOT = join(import.meta.dirname, '..');

test("the table in docs/settings.md is the schema's: `npm run docs -- settings` writes it", () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const table = /<!-- settings -->(.*)<!-- \/settings -->/s.exec(page)?.[1];
  expect(table?.trim()).toBe(settingsTable());
});

test('docs/service.md has every section that a source file cites', () => {
  const page = readFileSync(join(ROOT, 'docs/service.md'), 'utf8');
  const sections = new Set(Array.from(page.matchAll(/^##+ ([\d.]*\d)/gm), ([, section = '']) => section));
  const cited = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
    .flatMap((text) => Array.from(text.matchAll(/(?<!\.html, )§([\d.]*\d)/g), ([, section = '']) => section));
  expect(cited.length).toBeGreaterThan(0);
  expect(cited.filter((section) => !sections.has(section))).toEqual([]);
});

test('no page of a program that shows data to others gives it the file of the mirror', () => {
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const serving = /\b(?:datasette serve|Metabase:|sqlite-datasource|SQLAlchemy URI|sqlite:\/\/\/)/;
  const lines = pages.flatMap((name) => readFileSync(join(ROOT, 'docs', name), 'utf8').split('\n'));
  const shown = lines.filter((line) => serving.test(line) && !/create_engine|pandas/.test(line));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((line) => line.includes('mirror.db'))).toEqual([]);
});

test('README has at most 1,000 words', () => {
  const words = readFileSync(join(ROOT, 'README.md'), 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '');
  expect(words.length).toBeLessThanOrEqual(1000);
});

test('the terms of the spell check are at most 150, and the project uses each', () => {
  const texts = textsOf(ROOT).join('\n').toLowerCase();
  expect(knownTerms().length).toBeLessThanOrEqual(150);
  expect(knownTerms().filter((word) => !texts.includes(word.toLowerCase()))).toEqual([]);
});

/** The texts that the spell check reads. */
function textsOf(root: string): readonly string[] {
  const inFolders = ['sandbox', 'src', 'test', 'scripts', 'bench', 'docs', 'config', 'deploy'].flatMap(
    (folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
  );
  return [...readdirSync(root), ...inFolders]
    .filter((path) => /\.(ts|js|md|json|yaml|toml|service|env)$/.test(path) && !path.endsWith('lock.json'))
    .map((path) => readFileSync(join(root, path), 'utf8'));
}
