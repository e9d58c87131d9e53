import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const DOCS = join(import.meta.dirname, '../../docs');
const FRENCH = join(DOCS, 'fr');
const NAMES = readdirSync(FRENCH);
const TRANSLATED = NAMES.filter((name) => name !== 'README.md'); // The index lists what there is in French.

const BLOCK = /^```.*?^```$/gms;
const SPAN = /`[^`\n]+`/g;
const LINK = /\]\(([^)]*)\)|src="([^"]*)"/g;

describe.each(TRANSLATED)('docs/fr/%s', (name) => {
  const english = read(join(DOCS, name));
  const french = read(join(FRENCH, name));

  test('has the blocks of the English page, but for their comments', () => {
    expect(blocksOf(french)).toEqual(blocksOf(english));
  });

  test('has its headings and the rows of its tables, in their order', () => {
    expect(shapeOf(french)).toEqual(shapeOf(english));
  });

  test('has its commands, settings and names, and no other', () => {
    expect(spansOf(french)).toEqual(spansOf(english));
  });
});

describe.each(NAMES)('docs/fr/%s', (name) => {
  const page = read(join(FRENCH, name));

  test('and the English page begin with a link to each other', () => {
    expect(page.split('\n')[2]).toBe(`[English](../${name})`);
    expect(read(join(DOCS, name)).split('\n')[2]).toBe(`[En français](fr/${name})`);
  });

  test('leads somewhere with each link, and to a French page where there is one', () => {
    const links = linksOf(page);
    expect(links.filter((link) => !leadsSomewhere(join(FRENCH, name), link))).toEqual([]);
    expect(links.filter((link) => TRANSLATED.some((other) => link.startsWith(`../${other}#`)))).toEqual([]);
    expect(links.filter((link) => link.startsWith('../') && TRANSLATED.includes(link.slice(3)))).toEqual(
      TRANSLATED.includes(name) ? [`../${name}`] : [],
    );
  });

  test('is set as in Quebec: no space before ; ! and ?, one that does not break before a colon', () => {
    const wrong = proseOf(page)
      .split('\n')
      .filter((line) => /\ufffd|\s[;!?]|[^\u00a0]:|«[^\u00a0]|[^\u00a0]»|'/u.test(line));
    expect(wrong).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

function blocksOf(page: string): readonly string[] {
  return Array.from(page.matchAll(BLOCK), ([block]) => block.replaceAll(/(?<=^|\s)# .*$/gm, '#'));
}

function shapeOf(page: string): readonly string[] {
  return Array.from(page.replaceAll(BLOCK, '').matchAll(/^(?:#+|\|)/gm), ([mark]) => mark);
}

function spansOf(page: string): readonly string[] {
  const spans = page.replaceAll(BLOCK, '').matchAll(SPAN);
  return [...new Set(Array.from(spans, ([span]) => span))].toSorted();
}

function linksOf(page: string): readonly string[] {
  const links = page.replaceAll(BLOCK, '').replaceAll(SPAN, '').matchAll(LINK);
  const all = Array.from(links, ([, link, picture]) => link ?? picture ?? '');
  return all.filter((link) => !/^https?:/.test(link)); // Those of others are not asked.
}

/** What is read as sentences: the page without code, addresses and markup. */
function proseOf(page: string): string {
  return page.replaceAll(BLOCK, '').replaceAll(LINK, '').replaceAll(SPAN, '…');
}

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  return existsSync(target) && (heading === undefined || anchorsOf(read(target)).includes(heading));
}

/** The anchors of the headings, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  return Array.from(page.replaceAll(BLOCK, '').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}
