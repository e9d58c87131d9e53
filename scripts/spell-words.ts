import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS } from '../src/catalog/kinds/catalog.ts';
import * as vocabulary from '../sandbox/generate/vocabulary.ts';

/** Terms that no dictionary of English or of programming has, one a line: a plainer word is better than a new line. */
export function knownTerms(): readonly string[] {
  return readFileSync(join(import.meta.dirname, 'words.txt'), 'utf8')
    .trimEnd()
    .split('\n');
}

/** The words of the service: names of kinds and fields, paths, and the labels of the simulated company. */
export function serviceWords(): readonly string[] {
  const text = JSON.stringify([KINDS, vocabulary]);
  return [...new Set(text.match(/\p{L}{4,}/gu))];
}
