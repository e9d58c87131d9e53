import type { Kind } from '../catalog/kind.ts';
import { identifier } from './identifier.ts';
import { kindColumns } from './kind-table.ts';
import type { Column } from './kind-table.ts';
import type { Transaction } from './session.ts';

/** Gives every kind its table and every table its columns; tables grow, they are never rebuilt. */
export async function growKindTables(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    const present = await tx.columnsOf(kind.name);
    const statements = present.size === 0 ? createTable(kind) : addColumns(kind, present);
    for (const statement of statements) await tx.execute(statement);
  }
}

function createTable(kind: Kind): string[] {
  const table = identifier(kind.name);
  return [
    `create table ${table} (\n  ${kindColumns(kind).map(definition).join(',\n  ')}\n)`,
    // Nearly always empty, so it costs nothing; it lets live rows be counted without reading them.
    `create index ${identifier(`${kind.name}_deleted`)} on ${table} (_deleted_at) where _deleted_at is not null`,
  ];
}

function addColumns(kind: Kind, present: ReadonlySet<string>): string[] {
  return kindColumns(kind)
    .filter(({ name }) => !present.has(name))
    .map((column) => `alter table ${identifier(kind.name)} add column ${definition(column)}`);
}

const definition = ({ name, type, rule }: Column): string =>
  [identifier(name), type, rule ?? ''].join(' ').trimEnd();
