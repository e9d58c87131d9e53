import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../docs/reporting');

/** A fenced block of a page of docs/reporting. */
export interface Block {
  /** The nearest heading of the second level: `Install`, `SQLite`, `PostgreSQL`, `Read`. */
  readonly section: string;
  readonly language: string;
  readonly code: string;
}

/** The pages that have something to install, by their names: each is about one client. */
export function pagesToInstall(): readonly string[] {
  const pages = readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const names = pages.map((name) => name.slice(0, -'.md'.length));
  return names.filter((name) => blocksOf(name).some(({ section }) => section === 'Install')).sort();
}

/** The fenced blocks of a page, in its order. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(FOLDER, `${page}.md`), 'utf8');
  const [, ...sections] = text.split(/^## /m);
  return sections.flatMap((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    const fenced = section.matchAll(/^```(\w+)\n(.*?)^```$/gms);
    return Array.from(fenced, ([, language = '', code = '']) => ({ section: title, language, code }));
  });
}

/** The code of these sections in one language, one below the other. */
export function codeOf(page: string, language: string, sections: readonly string[]): string {
  const wanted = blocksOf(page).filter((block) => block.language === language);
  const code = sections.flatMap((title) => wanted.filter(({ section }) => section === title));
  if (code.length === 0)
    throw new Error(`docs/reporting/${page}.md has no ${language} under ${sections.join(', ')}.`);
  return code.map((block) => block.code).join('\n');
}
