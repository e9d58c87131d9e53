import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const AT_THE_TOP = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'deploy/README.md'];

/** Counts the words of each document, code blocks left out; the longest document first. */
export function wordsByDocument(): { readonly path: string; readonly words: number }[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  return [...AT_THE_TOP, ...inDocs]
    .map((path) => ({ path, words: wordsIn(readFileSync(join(ROOT, path), 'utf8')) }))
    .sort((a, b) => b.words - a.words);
}

const wordsIn = (text: string): number =>
  text
    .replace(/```.*?```/gs, '')
    .split(/\s+/)
    .filter((word) => /\p{L}|\d/u.test(word)).length;
