import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { buildProgram } from '../build/bundle.ts';

const ROOT = join(import.meta.dirname, '../..');
const LONG = 120;
/** Of formats without a parser here, the lines that are comments. */
const COMMENT = /^\s*(?:#|--|\/\*)/;

/** How large a set of files is. */
export interface Counts {
  readonly lines: number;
  /** Without blank lines, comments and imports. */
  readonly code: number;
  /** The leaves of the syntax trees of TypeScript and JavaScript. */
  readonly tokens: number;
  /** Lines over 120 characters. */
  readonly long: number;
}

/** Counts `src`, and everything tracked but tests, documents, the lock file and migrations: what leaves `src` for there is not gone. */
export function countTree(): { readonly src: Counts; readonly all: Counts } {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const paths = tracked.filter(
    (path) => path !== '' && !/^(?:test|docs|migrations)\/|\.md$|^package-lock\.json$/.test(path),
  );
  const count = (some: readonly string[]): Counts => some.map(countFile).reduce(add);
  return { src: count(paths.filter((path) => /^src\/.*\.ts$/.test(path))), all: count(paths) };
}

/** Builds the program into a folder of its own, which has nothing of earlier builds, and returns the bytes that a package installs of it. */
export async function bundleBytes(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-house-'));
  try {
    await buildProgram(folder);
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countFile(path: string): Counts {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const lines = text.split('\n').slice(0, -1);
  const long = lines.filter((line) => line.length > LONG).length;
  if (/\.(?:ts|m?js)$/.test(path)) return { lines: lines.length, ...countTokens(path, text), long };
  const code = lines.filter((line) => line.trim() !== '' && !COMMENT.test(line)).length;
  return { lines: lines.length, code, tokens: 0, long };
}

function countTokens(path: string, text: string): Pick<Counts, 'code' | 'tokens'> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const code = new Set<number>();
  let tokens = 0;
  const visit = (node: ts.Node, isImport: boolean): void => {
    if (ts.isJSDoc(node) || node.kind === ts.SyntaxKind.EndOfFileToken) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child, isImport || ts.isImportDeclaration(child));
    if (children.length > 0 || node.getWidth(source) === 0) return;
    tokens++;
    if (isImport) return;
    const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
    for (let line = lineAt(node.getStart(source)); line <= lineAt(node.getEnd()); line++) code.add(line);
  };
  visit(source, false);
  return { code: code.size, tokens };
}

const add = (a: Counts, b: Counts): Counts => ({
  lines: a.lines + b.lines,
  code: a.code + b.code,
  tokens: a.tokens + b.tokens,
  long: a.long + b.long,
});
