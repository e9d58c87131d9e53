import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

export interface TreeFile {
  /** Relative to the project: `src/lib/time/clock.ts`. */
  readonly path: string;
  readonly lines: number;
  readonly source: ts.SourceFile;
  /** Project files that it imports, types included. */
  readonly imports: readonly ImportOf[];
}

export interface ImportOf {
  readonly from: string;
  readonly names: readonly string[];
}

export interface Folder {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

/** Reads all TypeScript files of a folder. */
export function readTree(folder: string): {
  readonly files: readonly TreeFile[];
  readonly folders: readonly Folder[];
} {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => readFile(join(folder, name)));
  const names = [...new Set(files.map(({ path }) => dirname(path)))].sort();
  return {
    files,
    folders: names.map((name) => {
      const own = files.filter(({ path }) => dirname(path) === name);
      return { name, files: own.length, lines: own.reduce((sum, { lines }) => sum + lines, 0) };
    }),
  };
}

function readFile(path: string): TreeFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, lines: text.split('\n').length - 1, source, imports: importsOf(source) };
}

function importsOf(source: ts.SourceFile): ImportOf[] {
  const found: ImportOf[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const from = resolve(ROOT, dirname(source.fileName), specifier.text).slice(ROOT.length + 1);
    found.push({ from, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.importClause?.namedBindings));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.exportClause));
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], ['*']);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, ['*']);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function namesOf(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): string[] {
  if (bindings === undefined || !('elements' in bindings)) return ['*'];
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}
