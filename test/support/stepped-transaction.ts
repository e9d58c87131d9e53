import type { Transaction } from '../../src/db/session/session.ts';

/** How an operation is carried out, or is not. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>;

/** The same transaction, whose operations go through `step`. */
export function steppedTransaction(tx: Transaction, step: Step): Transaction {
  return {
    dialect: tx.dialect,
    query: (statement) => step(() => tx.query(statement)),
    write: (statement) => step(() => tx.write(statement)),
    readRowsById: (table, columns, ids) => step(() => tx.readRowsById(table, columns, ids)),
    upsertRows: (rows) => step(() => tx.upsertRows(rows)),
    insertRows: (rows) => step(() => tx.insertRows(rows)),
    insertNew: (rows, key) => step(() => tx.insertNew(rows, key)),
    listColumns: (table) => step(() => tx.listColumns(table)),
    execute: (statement) => step(() => tx.execute(statement)),
  };
}
