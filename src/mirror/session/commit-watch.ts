import type { Session } from './session.ts';

/** Calls back once a transaction of this session has landed in which rows were appended to one of these tables. */
export function watchAppends(session: Session, tables: readonly string[], onLanded: () => void): Session {
  return {
    ...session,
    atomically: async (work) => {
      const appended = new Set<string>();
      const result = await session.atomically((tx) => {
        appended.clear(); // Work may run again from its start.
        return work({
          ...tx,
          append: (rows) => {
            appended.add(rows.table);
            return tx.append(rows);
          },
        });
      });
      if (tables.some((table) => appended.has(table))) onLanded();
      return result;
    },
  };
}
