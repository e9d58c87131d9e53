import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { TreeFile } from './tree.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Constructions that make a reader solve a sentence, and how often the texts may have each. */
const CONSTRUCTIONS: Readonly<Record<string, RegExp>> = {
  '"What …" opening a comment': /(?:^|\/\*\*\s*|\* )What (?!is\b.*\?)/gm,
  '"what came", "what is", "what was" as a noun':
    /\b(?<!about )what (?:is|was|has|had|came|comes|did|does)\b/g,
  whoever: /\bwhoever\b/gi,
  whatever: /\bwhatever\b/gi,
  'of which': /\bof (?:which|whom)\b/gi,
  anew: /\banew\b/gi,
  somebody: /\b(?:somebody|nobody)\b/gi,
};

/** Counts the constructions in all comments of the sources and in the documents. */
export function countsOfText(files: readonly TreeFile[]): Record<string, number> {
  const texts = [
    ...files.map(commentsOf),
    ...documents().map((path) => readFileSync(join(ROOT, path), 'utf8')),
  ];
  const all = texts.join('\n');
  const counts = Object.entries(CONSTRUCTIONS).map(
    ([name, pattern]) => [name, all.match(pattern)?.length ?? 0] as const,
  );
  return Object.fromEntries(counts);
}

/** Lists all documents of the project, relative to it. */
export function documents(): string[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  const others = ['README', 'ARCHITECTURE', 'CONTRIBUTING', 'CHANGELOG', 'deploy/README'];
  return [...others.map((name) => `${name}.md`), ...inDocs];
}

/** Returns the comments of a file, a line each. */
export function commentsOf({ source, text }: TreeFile): string {
  const found: string[] = [];
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, source.languageVariant, text);
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan())
    if (token === ts.SyntaxKind.SingleLineCommentTrivia || token === ts.SyntaxKind.MultiLineCommentTrivia)
      found.push(scanner.getTokenText());
  return found.join('\n');
}
