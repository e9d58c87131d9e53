import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { REPORTS } from '../../../src/features/reports/read-reports.ts';
import { OPERATIONS } from '../../support/operations.ts';
import french from '../../../src/lib/text/locales/fr.json' with { type: 'json' };

/** The texts that stand in the source as they are. */
function literals(): Set<string> {
  const texts = new Set<string>();
  const collect = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isIdentifier(node)) texts.add(node.text); // A member may be a word that is shown.
    ts.forEachChild(node, collect);
  };
  for (const file of globSync('src/**/*.{ts,js}'))
    collect(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

test('every French text has its English one in the source, or is made from a name or a unit there', () => {
  const texts = literals();
  for (const { name } of OPERATIONS) texts.add(name); // The last part of a path.
  for (const { sql, plot } of REPORTS) {
    for (const text of [plot.caption, ...Object.keys(plot.series)]) texts.add(text);
    for (const [column] of sql.matchAll(/\b[a-z]\w*/g))
      texts.add(column.replace(/_(?:e4|exact)$/, '').replaceAll('_', ' '));
  }
  const isLabel = (text: string): boolean => texts.has(text.charAt(0).toLowerCase() + text.slice(1)); // Of an operation.
  const isUnit = (text: string): boolean =>
    text.startsWith('0.0001 ') && texts.has(text.slice('0.0001 '.length));
  const unused = Object.keys(french).filter((text) => !texts.has(text) && !isLabel(text) && !isUnit(text));
  expect(unused).toEqual([]);
});
