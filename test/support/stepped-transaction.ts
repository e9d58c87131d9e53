import type { Transaction } from '../../src/db/session/session.ts';

/** How an operation is carried out, or is not. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** The same transaction, each operation of which goes through `step`. */
export function steppedTransaction(tx: Transaction, step: Step): Transaction {
  return {
    dialect: tx.dialect,
    query: (statement) => step(() => tx.query(statement)),
    write: (statement) => step(() => tx.write(statement)),
    rowsById: (table, columns, ids) => step(() => tx.rowsById(table, columns, ids)),
    putRows: (rows) => step(() => tx.putRows(rows)),
    append: (rows) => step(() => tx.append(rows)),
    columnsOf: (table) => step(() => tx.columnsOf(table)),
    execute: (statement) => step(() => tx.execute(statement)),
  };
}
