import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS } from '../src/catalog/catalog.ts';
import * as vocabulary from '../src/sandbox/generate/vocabulary.ts';

/** A word of docs/glossary.md. */
export interface Term {
  readonly word: string;
  readonly meaning: string;
}

/** Reads the glossary, in the order of the page. */
export function readGlossary(): readonly Term[] {
  const page = readFileSync(join(import.meta.dirname, '../docs/glossary.md'), 'utf8');
  const rows = page.matchAll(/^\| (\S+) \| (.+) \|$/gm);
  const [, ...terms] = Array.from(rows, ([, word = '', meaning = '']) => ({ word, meaning }));
  return terms;
}

/** The words of the service: names of kinds and fields, paths, and the labels of the simulated company. */
export function serviceWords(): readonly string[] {
  const text = JSON.stringify([KINDS, vocabulary]);
  return [...new Set(text.match(/\p{L}{4,}/gu))];
}
