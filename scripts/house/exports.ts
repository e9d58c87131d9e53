import ts from 'typescript';
import type { TreeFile } from './tree.ts';

interface ExportOf {
  readonly name: string;
  readonly path: string;
  readonly isType: boolean;
}

function exportsOf({ source, path }: TreeFile): ExportOf[] {
  return source.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (!isExported) return [];
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    return declaredNames(statement).map((name) => ({ name, path, isType }));
  });
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  const { name } = statement as ts.Statement & { readonly name?: ts.Node };
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

/** Returns the exported names that more than one file declares: types, or functions and values. */
export function duplicateNames(files: readonly TreeFile[], of: 'types' | 'values'): string[] {
  const counts = new Map<string, number>();
  for (const { name, isType } of files.flatMap(exportsOf))
    if (isType === (of === 'types')) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}

/** Exports that neither the sources nor the other folders import. */
export function unusedExports(files: readonly TreeFile[], others: readonly TreeFile[]): string[] {
  const used = new Set<string>();
  for (const { imports } of [...files, ...others])
    for (const { from, names } of imports) for (const name of names) used.add(`${from} ${name}`);
  return files
    .flatMap(exportsOf)
    .filter(({ name, path }) => !used.has(`${path} ${name}`) && !used.has(`${path} *`))
    .map(({ name, path }) => `${path} ${name}`);
}
