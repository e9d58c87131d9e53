import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { REPORTS } from '../../../src/features/reports/read-reports.ts';
import { OPERATIONS } from '../../support/operations.ts';
import french from '../../../src/lib/text/locales/fr.json' with { type: 'json' };
import refusals from '../../../src/lib/text/locales/fr-refusals.json' with { type: 'json' };
import { translatorFor } from '../../../src/lib/text/translator.ts';
import { translateReason } from '../../../src/words/stored-reasons.ts';

/** Calls a function with every node of the source. */
function visit(patterns: readonly string[], seen: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    seen(node);
    ts.forEachChild(node, walk);
  };
  for (const file of globSync(patterns))
    walk(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
}

/** The texts that stand in the source as they are, and the parts of those with values. */
function literals() {
  const texts = new Set<string>();
  const parts: string[] = [];
  visit(['src/**/*.{ts,js}'], (node) => {
    if (ts.isStringLiteralLike(node) || ts.isIdentifier(node)) texts.add(node.text); // A member may be a word that is shown.
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      parts.push(node.text);
  });
  return { texts, parts };
}

test('every French text has its English one in the source, or is made from a name or a unit there', () => {
  const { texts } = literals();
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

test('every French refusal has its English one in the source, or in Zod', () => {
  const { parts } = literals();
  const all = parts.join('\n').toLowerCase();
  const ours = Object.keys(refusals).filter((text) => !/^(?:Invalid|Too (?:big|small):)/.test(text));
  const partsOf = (text: string): readonly string[] => text.toLowerCase().split(/\{\w+\}|\.$/m);
  expect(ours.filter((text) => partsOf(text).some((part) => !all.includes(part.trim())))).toEqual([]);
});

/** Where the refusals that a page shows are worded. */
const OF_PAGES = [
  'src/{catalog/find-kind,events/read-changes,lib/net/target-url,lib/time/as-of-instant,outbound/decisions/decide,runs/extent}.ts',
  'src/{dashboard,dashboard/parts,events/webhooks,operations,features/plans/operations,features/plans/pages}/*.ts',
  'src/features/{plans/store,reports/run-report}.ts',
  'src/http/{limits,upload-limit}.ts',
  'src/store/records/{find-records,hold-store}.ts',
];
/** Where every sentence is a refusal. */
const OF_SHEETS = [
  'src/features/plans/{sheet/*,work/{judge-row,make-plan,match-rows,plan-state,undo-plan}}.ts',
];

const VALUE = 'a text'; // One of ours.

/** The texts of an expression, with a value in place of what it does not show; one for each of its choices. */
function textsOf(node: ts.Node): readonly string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (!ts.isTemplateExpression(node)) return [VALUE];
  return node.templateSpans.reduce<readonly string[]>(
    (texts, { expression, literal }) =>
      texts.flatMap((text) => textsOf(expression).map((value) => text + value + literal.text)),
    [node.head.text],
  );
}

/** The messages and the advice of the errors that a node makes. */
function thrownBy(node: ts.Node): readonly string[] {
  if (
    ts.isNewExpression(node) &&
    ts.isIdentifier(node.expression) &&
    /^(?:Sync|Usage)Error$/.test(node.expression.text)
  )
    return node.arguments?.[0] ? textsOf(node.arguments[0]) : [];
  const isHint = ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === 'hint';
  return isHint ? textsOf(node.initializer) : [];
}

test('every refusal that a page shows has its French text', () => {
  const found = new Set<string>();
  visit(OF_PAGES, (node) => {
    for (const text of thrownBy(node)) found.add(text);
  });
  visit(OF_SHEETS, (node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
      for (const text of textsOf(node)) found.add(text);
  });
  const french = translatorFor('fr');
  const isSentence = (text: string): boolean => /[a-z]+ [a-z]+ [a-z]/i.test(text.replaceAll(VALUE, ''));
  const isOther = (text: string): boolean => /^\s*(?:select|where) |^bms-sync |^all sent fields$/.test(text);
  const sentences = [...found].filter((text) => isSentence(text) && !isOther(text));
  expect(sentences.length).toBeGreaterThan(100);
  const whole = (text: string): string => (text.endsWith(':') ? `${text} ${VALUE}` : text);
  expect(sentences.map(whole).filter((text) => translateReason(text, french) === text)).toEqual([]);
});
