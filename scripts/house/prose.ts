import ts from 'typescript';
import type { TreeFile } from './tree.ts';

interface Declared {
  readonly name: string;
  readonly path: string;
  readonly is: 'function' | 'type';
  readonly uses: number;
}

/** How densely the sources are written: constructions that group, and names that are used once. */
export function countsOfProse(files: readonly TreeFile[]): Record<string, number> {
  const nodes = files.flatMap(({ source }) => nodesIn(source));
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const uses = new Map(files.map(({ path, source }) => [path, usesIn(source)]));
  const declared = files.flatMap((file) => declaredIn(file, files, uses));
  const once = (is: Declared['is']): number => {
    const all = declared.filter((one) => one.is === is);
    return percent(all.filter(({ uses }) => uses === 1).length, all.length);
  };
  return {
    'groupings by spreads': nodes.filter(isGrouping).length,
    'tuple lets': nodes.filter(isTupleLet).length,
    'Pick and Omit per 1,000 lines': Number(((1_000 * nodes.filter(isPick).length) / lines).toFixed(1)),
    'top-level functions used once, %': once('function'),
    'types used once, %': once('type'),
    'type names declared in several files': homonyms(declared),
    'destructured parameters, %': destructuredShare(nodes),
    'median lines of a file': files.map((file) => file.lines).sort((a, b) => a - b)[files.length >> 1] ?? 0,
  };
}

const percent = (part: number, all: number): number => Math.round((100 * part) / all);

function nodesIn(source: ts.SourceFile): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isGrouping(node: ts.Node): boolean {
  if (!ts.isSpreadElement(node) && !ts.isSpreadAssignment(node)) return false;
  let spread = node.expression;
  while (
    ts.isAsExpression(spread) ||
    ts.isSatisfiesExpression(spread) ||
    ts.isParenthesizedExpression(spread)
  )
    spread = spread.expression;
  return ts.isObjectLiteralExpression(spread) || ts.isArrayLiteralExpression(spread);
}

const isTupleLet = (node: ts.Node): boolean =>
  ts.isVariableDeclaration(node) &&
  ts.isArrayBindingPattern(node.name) &&
  node.initializer !== undefined &&
  ts.isArrayLiteralExpression(node.initializer);

const isPick = (node: ts.Node): boolean =>
  ts.isTypeReferenceNode(node) && /^(?:Pick|Omit)$/.test(node.typeName.getText());

/** The share of parameters that are patterns, in functions with a body. */
function destructuredShare(nodes: readonly ts.Node[]): number {
  const parameters = nodes
    .filter(ts.isParameter)
    .filter(({ parent }) => 'body' in parent && parent.body !== undefined);
  const patterns = parameters.filter(({ name }) => !ts.isIdentifier(name));
  return Number(((100 * patterns.length) / parameters.length).toFixed(1));
}

/** The functions and types of a file's top level, with the uses in the files that know them. */
function declaredIn(
  file: TreeFile,
  files: readonly TreeFile[],
  usesOf: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Declared[] {
  return file.source.statements.flatMap((statement) => {
    const of = declaredBy(statement);
    if (of === null) return [];
    const importers = files.filter(({ imports }) =>
      imports.some(({ from, names }) => from === file.path && names.includes(of.name)),
    );
    const uses = [file, ...importers].reduce(
      (sum, { path }) => sum + (usesOf.get(path)?.get(of.name) ?? 0),
      0,
    );
    return [{ ...of, path: file.path, uses }];
  });
}

function declaredBy(statement: ts.Statement): Pick<Declared, 'name' | 'is'> | null {
  if (ts.isFunctionDeclaration(statement) && statement.name)
    return { name: statement.name.text, is: 'function' };
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    return { name: statement.name.text, is: 'type' };
  if (!ts.isVariableStatement(statement)) return null;
  const [declaration] = statement.declarationList.declarations;
  if (declaration?.initializer === undefined || !ts.isIdentifier(declaration.name)) return null;
  return ts.isArrowFunction(declaration.initializer) ? { name: declaration.name.text, is: 'function' } : null;
}

/** How often a file uses each name, its declaration, its imports and members of that name aside. */
function usesIn(source: ts.SourceFile): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const node of nodesIn(source)) {
    if (!ts.isIdentifier(node) || ts.isImportSpecifier(node.parent)) continue;
    const isNamed = 'name' in node.parent && node.parent.name === node;
    if (isNamed && !ts.isShorthandPropertyAssignment(node.parent)) continue;
    uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
  }
  return uses;
}

function homonyms(declared: readonly Declared[]): number {
  const places = new Map<string, Set<string>>();
  for (const { name, path, is } of declared)
    if (is === 'type') places.set(name, (places.get(name) ?? new Set()).add(path));
  return [...places.values()].filter(({ size }) => size > 1).length;
}
