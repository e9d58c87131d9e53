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
  const declared = files.flatMap((file) => declaredIn(file, files));
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

const isGrouping = (node: ts.Node): boolean =>
  (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) &&
  (ts.isObjectLiteralExpression(node.expression) || ts.isArrayLiteralExpression(node.expression));

const isTupleLet = (node: ts.Node): boolean =>
  ts.isVariableDeclaration(node) &&
  ts.isArrayBindingPattern(node.name) &&
  node.initializer !== undefined &&
  ts.isArrayLiteralExpression(node.initializer);

const isPick = (node: ts.Node): boolean =>
  ts.isTypeReferenceNode(node) && /^(?:Pick|Omit)$/.test(node.typeName.getText());

/** The functions and types of a file's top level, with the uses in the files that know them. */
function declaredIn(file: TreeFile, files: readonly TreeFile[]): Declared[] {
  return file.source.statements.flatMap((statement) => {
    const of = declaredBy(statement);
    if (of === null) return [];
    const importers = files.filter(({ imports }) =>
      imports.some(({ from, names }) => from === file.path && names.includes(of.name)),
    );
    const uses = [file, ...importers].reduce((sum, { source }) => sum + usesIn(source, of.name), 0);
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

const usesIn = (source: ts.SourceFile, name: string): number =>
  nodesIn(source).filter((node) => {
    if (!ts.isIdentifier(node) || node.text !== name) return false;
    const { parent } = node;
    const isMember =
      (ts.isPropertyAccessExpression(parent) && parent.name === node) || ts.isPropertySignature(parent);
    const isDeclared =
      'name' in parent &&
      parent.name === node &&
      !ts.isPropertyAccessExpression(parent) &&
      !isShorthand(parent);
    return !isMember && !isDeclared && !ts.isImportSpecifier(parent);
  }).length;

const isShorthand = (node: ts.Node): boolean => ts.isShorthandPropertyAssignment(node);

function homonyms(declared: readonly Declared[]): number {
  const places = new Map<string, Set<string>>();
  for (const { name, path, is } of declared)
    if (is === 'type') places.set(name, (places.get(name) ?? new Set()).add(path));
  return [...places.values()].filter(({ size }) => size > 1).length;
}
