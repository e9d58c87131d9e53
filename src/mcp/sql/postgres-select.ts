import { loadModule, parseSync } from 'libpg-query';
import { FUNCTIONS, refusedError } from './question.ts';

/**
 * Refuses everything except one select over the views. PostgreSQL's own parser reads the text, and only listed nodes, functions,
 * operators and types pass: a read-only transaction alone allows `lo_create`, `pg_notify` or `set_config`.
 *
 * @throws {SyncError} `mcp.refused`.
 */
export async function checkSelect(sql: string, views: readonly string[]): Promise<CheckedSelect> {
  await loadModule();
  const [statement, another] = parse(sql);
  if (statement === undefined || another !== undefined) throw refusedError('it is not one statement');
  const [[type] = []] = Object.entries(statement.stmt ?? {});
  if (type !== 'SelectStmt') throw refusedError('it is not a select');
  const found: Found = { relations: [], withNames: new Set(), growth: 0, isRecursive: false };
  collect(statement.stmt, found);
  refuseOtherRelations(found, views);
  if (found.growth > (found.isRecursive ? 0 : MOST_GROWTH))
    throw refusedError('its texts could grow without end: it puts too many of them together');
  const read = [
    ...new Set(found.relations.map((relation) => relation.name).filter((name) => views.includes(name))),
  ];
  return { views: read, withParts: (parts) => insertParts(sql, statement.stmt, parts) };
}

/** Puts parts of a `with` before those of a select. Places in the text are counted in bytes. */
function insertParts(sql: string, statement: unknown, parts: readonly string[]): string {
  if (parts.length === 0) return sql;
  const [part] = (statement as SelectTree).SelectStmt.withClause?.ctes ?? [];
  if (part === undefined) return `with ${parts.join(', ')} ${sql}`;
  const bytes = Buffer.from(sql);
  const start = part.CommonTableExpr.location;
  return `${bytes.toString('utf8', 0, start)}${parts.join(', ')}, ${bytes.toString('utf8', start)}`;
}

interface SelectTree {
  readonly SelectStmt: {
    readonly withClause?: {
      readonly ctes: readonly { readonly CommonTableExpr: { readonly location: number } }[];
    };
  };
}

/** A select that may be run. */
interface CheckedSelect {
  /** The views that it names. */
  readonly views: readonly string[];
  /** The select with these parts of a `with`, which stand for views. */
  readonly withParts: (parts: readonly string[]) => string;
}

/** Does not follow where a part of `with` is visible, so no part may have the name of a view or a system table. */
function refuseOtherRelations(found: Found, views: readonly string[]): void {
  for (const name of found.withNames)
    if (name.startsWith('pg_') || views.includes(name))
      throw refusedError(`a part of its with has the name ${name}`);
  for (const { name, schema } of found.relations) {
    const isView = views.includes(name) && (schema === undefined || schema === 'public');
    const isPart = schema === undefined && found.withNames.has(name);
    if (!isView && !isPart) throw refusedError(`there is no view ${name}`);
  }
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
  isRecursive: boolean;
}

const MOST_GROWTH = 12;

/** Walks the tree; a member with a capital letter is a node of that type. */
function collect(value: unknown, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'intoClause') throw refusedError('it writes a table');
    if (key === 'typeName') checkType(inner as TreeNode);
    if (key === 'recursive') found.isRecursive = true;
    if (/^[A-Z]/.test(key)) checkNode(key, inner as TreeNode, found);
    collect(inner, found);
  }
}

/** The members of nodes that are checked. */
interface TreeNode {
  readonly names?: readonly NamePart[];
  readonly funcname?: readonly NamePart[];
  readonly name?: readonly NamePart[];
  readonly relname?: string;
  readonly schemaname?: string;
  readonly ctename?: string;
  readonly op?: string;
  readonly lexpr?: Operand;
  readonly rexpr?: Operand;
  readonly args?: readonly Operand[];
}

interface Operand {
  readonly A_Const?: { readonly sval?: { readonly sval?: string } };
}

interface NamePart {
  readonly String?: { readonly sval?: string };
}

const NODES = new Set(
  `A_ArrayExpr A_Const A_Expr A_Star Alias BoolExpr BooleanTest CaseExpr CaseWhen CoalesceExpr ColumnRef CommonTableExpr FuncCall
  GroupingFunc GroupingSet Integer JoinExpr List MinMaxExpr NullTest RangeSubselect RangeVar ResTarget SelectStmt SortBy
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
  if (type === 'FuncCall') checkName(node.funcname, FUNCTIONS.postgres, 'the function');
  if (type === 'A_Expr' && !/BETWEEN/.test(lastOf(node.name)))
    checkName(node.name, OPERATORS, 'the operator');
  found.growth += growthOf(type, node);
  if (type === 'SQLValueFunction' && !/_(?:CURRENT_|LOCAL)(?:DATE|TIME)/.test(node.op ?? ''))
    throw refusedError('it asks for the user or the database');
}

/** How often a value that is not a literal can double its length here: `a || b` once. */
function growthOf(type: string, { name, funcname, lexpr, rexpr, args = [] }: TreeNode): number {
  const called = lastOf(type === 'FuncCall' ? funcname : name);
  if (called === 'replace') {
    const by = args[2]?.A_Const;
    return by === undefined ? Infinity : Math.log2(Math.max(1, by.sval?.sval?.length ?? 1));
  }
  if (!GROWING.has(called)) return 0;
  const operands = type === 'FuncCall' ? args : [lexpr, rexpr];
  return Math.max(0, operands.filter((operand) => operand?.A_Const === undefined).length - 1);
}

const GROWING = new Set(['||', 'concat', 'concat_ws', 'overlay']);

const checkType = (node: TreeNode): void => {
  checkName(node.names, TYPES, 'the type');
};

/** PostgreSQL finds its own names before any others, so that a listed name without a schema is its own. */
function checkName(parts: readonly NamePart[] | undefined, listed: ReadonlySet<string>, what: string): void {
  const names = (parts ?? []).map((part) => part.String?.sval ?? '');
  const isOwn = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog');
  if (!isOwn || !listed.has(lastOf(parts))) throw refusedError(`${what} ${names.join('.')} is not allowed`);
}

const lastOf = (parts: readonly NamePart[] | undefined): string => parts?.at(-1)?.String?.sval ?? '';
