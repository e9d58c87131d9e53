import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { commentsOf, documents } from './language.ts';
import { RETIRED_NAMES, RETIRED_TURNS } from './retired.ts';
import type { TreeFile } from './tree.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A retired turn and the file where it stands, for lists. */
interface Hit {
  readonly path: string;
  readonly text: string;
}

/** Finds the retired names among the identifiers of files. */
export function retiredNames(files: readonly TreeFile[]): Hit[] {
  return files.flatMap(({ path, source }) =>
    identifiersIn(source)
      .filter((name) => RETIRED_NAMES.some(({ pattern }) => pattern.test(name)))
      .map((text) => ({ path, text })),
  );
}

/** Finds the retired turns in the comments of files. */
export function retiredInComments(files: readonly TreeFile[]): Hit[] {
  return files.flatMap((file) =>
    retiredTurns(file.path, commentsOf(file).replace(/\n\s*(?:\*|\/\/) ?/g, ' ')),
  );
}

/** Finds the retired turns in the English documents, code blocks left out. */
export function retiredInDocuments(): Hit[] {
  return documents()
    .filter((path) => !/\bfr\b/.test(path))
    .flatMap((path) => retiredTurns(path, proseOf(path)));
}

/** Finds the retired turns in one text. */
export function retiredTurns(path: string, prose: string): Hit[] {
  const text = prose.replace(/\s+/g, ' ');
  return RETIRED_TURNS.flatMap(({ pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({
      path,
      text: text.slice(Math.max(0, index - 40), index + 40),
    })),
  );
}

/** Counts the words of each document, code blocks left out; the longest document first. */
export function wordsByDocument(): { readonly path: string; readonly words: number }[] {
  return documents()
    .map((path) => ({
      path,
      words: proseOf(path)
        .split(/\s+/)
        .filter((word) => /\p{L}|\d/u.test(word)).length,
    }))
    .sort((a, b) => b.words - a.words);
}

const proseOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8').replace(/```.*?```/gs, '');

function identifiersIn(source: ts.SourceFile): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}
