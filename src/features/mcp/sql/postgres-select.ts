import {
  loadModule,
  parseSync,
  type A_Const,
  type A_Expr,
  type CommonTableExpr,
  type FuncCall,
  type Node,
  type RangeVar,
  type SQLValueFunction,
  type TypeName,
} from 'libpg-query';
import { FUNCTIONS, refusedError } from './question.ts';

/**
 * Refuses everything except one select over the views. PostgreSQL's own parser reads the text, and only listed nodes, functions,
 * operators and types pass: a read-only transaction alone allows `lo_create`, `pg_notify` or `set_config`. Returns the text of that
 * one statement, and the views that it names.
 *
 * @throws {SyncError} `mcp.refused`.
 */
export async function checkSelect(sql: string, views: readonly string[]) {
  await loadModule();
  const [statement, another] = parse(sql);
  if (statement === undefined || another !== undefined) throw refusedError('it is not one statement');
  const [[type] = []] = Object.entries(statement.stmt ?? {});
  if (type !== 'SelectStmt') throw refusedError('it is not a select');
  const found: Found = {
    relations: [],
    withNames: new Set(),
    growth: 0,
    multiplications: 0,
    isRecursive: false,
  };
  collect(statement.stmt, found);
  refuseOtherNames(found, views);
  refuseGrowth(found);
  const { stmt_location: start = 0, stmt_len: length = Infinity } = statement; // In bytes.
  const named = found.relations.map((relation) => relation.name).filter((name) => views.includes(name));
  return { views: [...new Set(named)], text: Buffer.from(sql).toString('utf8', start, start + length) };
}

/** Does not follow where a part of `with` is visible, so no part may have the name of a view or a system table. */
function refuseOtherNames(found: Found, views: readonly string[]): void {
  for (const name of found.withNames)
    if (name.startsWith('pg_') || views.includes(name))
      throw refusedError(`a part of its with has the name ${name}`);
  for (const { name, schema } of found.relations) {
    const isView = views.includes(name) && (schema === undefined || schema === 'public');
    const isPart = schema === undefined && found.withNames.has(name);
    if (!isView && !isPart) throw refusedError(`there is no view ${name}`);
  }
}

function refuseGrowth({ growth, multiplications, isRecursive }: Found): void {
  if (growth > (isRecursive ? 0 : MOST_GROWTH))
    throw refusedError('its texts could grow without end: it puts too many of them together');
  if (multiplications > (isRecursive ? 0 : MOST_MULTIPLICATIONS))
    throw refusedError('its numbers could grow without end: it multiplies or divides too often');
}

function parse(sql: string) {
  try {
    return parseSync(sql).stmts ?? [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refusedError(error.message);
  }
}

interface Found {
  readonly relations: { readonly name: string; readonly schema: string | undefined }[];
  readonly withNames: Set<string>;
  /** How often a text may become twice as long. PostgreSQL limits the memory of no value. */
  growth: number;
  /** How often numbers get more digits. PostgreSQL cannot be interrupted while it computes one. */
  multiplications: number;
  isRecursive: boolean;
}

const MOST_GROWTH = 12;
const MOST_MULTIPLICATIONS = 40;
const MOST_DIGITS = 40;

/** Walks the tree; a member with a capital letter is a node of that type. */
function collect(value: unknown, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'intoClause') throw refusedError('it writes a table');
    if (key === 'typeName') checkName((inner as TypeName).names, TYPES, 'the type');
    if (key === 'recursive') found.isRecursive = true;
    if (/^[A-Z]/.test(key)) checkNode(key, inner as TreeNode, found);
    collect(inner, found);
  }
}

/** The members of the nodes that are checked. */
type TreeNode = TypeName & RangeVar & CommonTableExpr & FuncCall & A_Expr & A_Const & SQLValueFunction;

const NODES = new Set(
  `A_ArrayExpr A_Const A_Expr A_Star Alias BoolExpr BooleanTest CaseExpr CaseWhen CoalesceExpr ColumnRef CommonTableExpr FuncCall
  GroupingFunc GroupingSet Integer JoinExpr JsonParseExpr List MinMaxExpr NullTest RangeSubselect RangeVar ResTarget SelectStmt SortBy
  SQLValueFunction String SubLink TypeCast WindowDef`.split(/\s+/),
);
const OPERATORS = new Set(
  `= <> < > <= >= + - * / % || ~~ !~~ ~~* !~~* ~ ~* !~ !~* -> ->> #> #>> BETWEEN`.split(' '),
);
const TYPES = new Set(
  `text varchar int2 int4 int8 numeric float4 float8 bool date time timestamp timestamptz interval json jsonb`.split(
    ' ',
  ),
);

function checkNode(type: string, node: TreeNode, found: Found): void {
  if (!NODES.has(type)) throw refusedError(`it contains ${type}`);
  if (type === 'RangeVar') found.relations.push({ name: node.relname ?? '', schema: node.schemaname });
  if (type === 'CommonTableExpr') found.withNames.add(node.ctename ?? '');
  if (type === 'FuncCall' || type === 'A_Expr') checkCall(type, node, found);
  if (type === 'A_Const') checkDigits(node);
  if (type === 'SQLValueFunction' && !/_(?:CURRENT_|LOCAL)(?:DATE|TIME)/.test(node.op ?? ''))
    throw refusedError('it asks for the user or the database');
}

function checkCall(type: 'FuncCall' | 'A_Expr', node: TreeNode, found: Found): void {
  const called = namesIn(node.funcname ?? node.name).at(-1) ?? '';
  if (type === 'FuncCall') checkName(node.funcname, FUNCTIONS.postgres, 'the function');
  else if (!called.includes('BETWEEN')) checkName(node.name, OPERATORS, 'the operator');
  if (called === 'round' || called === 'trunc') checkPlaces(node.args?.[1]);
  if (MULTIPLYING.has(called)) found.multiplications += 1;
  found.growth += growthOf(called, node);
}

/** How often a value that is not a literal can double its length here: `a || b` once. */
function growthOf(called: string, node: TreeNode): number {
  const args: readonly (Node | undefined)[] = node.args ?? [node.lexpr, node.rexpr];
  if (called === 'replace') {
    const by = constantOf(args[2]);
    return by === undefined ? Infinity : Math.log2(Math.max(1, by.sval?.sval?.length ?? 1));
  }
  if (!GROWING.has(called)) return 0;
  return Math.max(0, args.filter((operand) => constantOf(operand) === undefined).length - 1);
}

/** The constant that an operand is, which the server prints with its type: `'x'::text`. */
function constantOf(operand: Node | undefined): A_Const | undefined {
  if (operand === undefined) return undefined;
  if ('A_Const' in operand) return operand.A_Const;
  return 'TypeCast' in operand ? constantOf(operand.TypeCast.arg) : undefined;
}

/** Refuses a number, or a text that may be cast to one, that is too long: `1e99999`. */
function checkDigits(constant: A_Const): void {
  const text = constant.fval?.fval ?? constant.sval?.sval ?? '';
  const [, digits = '', exponent = ''] =
    /^[+-]?(0x[\da-f_]+|[\d._]+)(?:e[+-]?([\d_]+))?$/i.exec(text.trim()) ?? [];
  if (digits.replace(/\W/g, '').length + Number(exponent.replaceAll('_', '')) > MOST_DIGITS)
    throw refusedError(`a number in it has more than ${MOST_DIGITS} digits`);
}

function checkPlaces(places: Node | undefined): void {
  const constant = constantOf(places);
  const text = constant?.sval?.sval ?? String(constant?.ival?.ival ?? 0);
  if (places !== undefined && (constant === undefined || !(Number(text) <= MOST_DIGITS)))
    throw refusedError(`it rounds to other than at most ${MOST_DIGITS} written places`);
}

const GROWING = new Set(['||', 'concat', 'concat_ws', 'overlay']);
const MULTIPLYING = new Set(['*', '/', '%', 'mod', 'power', 'exp']);

/** PostgreSQL finds its own names before any others, so that a listed name without a schema is its own. */
function checkName(parts: readonly Node[] | undefined, listed: ReadonlySet<string>, what: string): void {
  const names = namesIn(parts);
  const isOwn = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog');
  const last = names.at(-1) ?? '';
  if (isOwn && listed.has(last)) return;
  const cure = last.endsWith('_agg') ? ': it gathers rows, select them instead' : '';
  throw refusedError(`${what} ${names.join('.')} is not allowed${cure}`);
}

const namesIn = (parts: readonly Node[] = []): readonly string[] =>
  parts.map((part) => ('String' in part ? (part.String.sval ?? '') : ''));
