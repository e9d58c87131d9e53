import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Kind } from '../../catalog/kind.ts';
import type { Transaction } from '../session/session.ts';
import { identifier } from '../session/sql-text.ts';
import { kindColumns, nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { Column, Dialect } from '../tables/kind-table.ts';

/** Creates a kind's tables or adds their missing columns; tables grow and are never rebuilt. */
export async function growKindTable(tx: Transaction, kind: Kind, dialect: Dialect): Promise<void> {
  await grow(tx, { name: kind.name, columns: kindColumns(kind, dialect), create: createTable });
  for (const table of nestedTables(kind))
    await grow(tx, {
      name: table.name,
      columns: nestedColumns(table, dialect),
      create: createNested,
    });
}

interface Growing {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly create: (name: string, columns: readonly Column[]) => readonly string[];
}

async function grow(tx: Transaction, { name, columns, create }: Growing): Promise<void> {
  const present = await tx.columnsOf(name);
  const statements = present.size === 0 ? create(name, columns) : addColumns(name, columns, present);
  for (const statement of statements) {
    await tx.execute(statement);
    await yieldToEventLoop(); // Of hundreds of new columns, each takes SQLite milliseconds.
  }
}

function createTable(name: string, columns: readonly Column[]): string[] {
  const table = identifier(name);
  return [
    `create table ${table} (\n  ${columns.map(definition).join(',\n  ')}\n)`,
    // Nearly always empty, so it costs nothing; with it, live rows are counted without reading them.
    `create index ${identifier(`${name}_deleted`)} on ${table} (_deleted_at) where _deleted_at is not null`,
  ];
}

/** No key over parent and position: parents come in any order, and to keep elements in theirs costs twice the insert. */
function createNested(name: string, columns: readonly Column[]): string[] {
  const table = identifier(name);
  return [
    `create table ${table} (\n  ${columns.map(definition).join(',\n  ')}\n);
    create index ${identifier(`${name}_parents`)} on ${table} (parent_id)`,
  ];
}

function addColumns(name: string, columns: readonly Column[], present: ReadonlySet<string>): string[] {
  return columns
    .filter((column) => !present.has(column.name))
    .map((column) => `alter table ${identifier(name)} add column ${definition(column)}`);
}

const definition = ({ name, type, rule }: Column): string =>
  [identifier(name), type, rule ?? ''].join(' ').trimEnd();
