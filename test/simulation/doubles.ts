import type { RetrievableKind } from '../../src/catalog/kind.ts';
import type { Sighting, Certification } from '../../src/diff/certify.ts';
import type { Session, SqlValue, TableRows, Transaction } from '../../src/mirror/session/session.ts';
import type { HttpAnswer } from '../../src/source/http/http.ts';
import type { Source } from '../../src/source/source.ts';

export const idsOf = ({ ids }: Sighting): string[] => (ids === '[]' ? [] : ids.slice(1, -1).split(','));

export function lastSweepOf(responses: readonly Sighting[]): number | null {
  return responses.reduce<number | null>(
    (last, { sweep }) => (sweep === null ? last : Math.max(last ?? 0, sweep)),
    null,
  );
}

/** Takes what one sweep showed for all there is. */
export function presenceIn(responses: readonly Sighting[], sweep: number | null): Certification {
  const shown = new Set(responses.filter((one) => one.sweep === sweep).flatMap(idsOf));
  const point = responses.at(-1);
  if (point === undefined) return { certified: false, reason: 'no_end', detail: 'nothing was read' };
  const absent = [...new Set(responses.flatMap(idsOf))].filter((id) => !shown.has(id));
  return {
    ...{ certified: true, point, size: shown.size },
    lists: (id) => shown.has(id),
    showedSince: (id) => shown.has(id),
    lastShown: (id) => responses.findLast((one) => idsOf(one).includes(id))?.sent ?? null,
    absent: () => absent,
  };
}

type Retrieve = Source['retrieve'];

export function findsAlways(source: { readonly retrieve: Retrieve }, control: string): Retrieve {
  return (kind: RetrievableKind, id, options) =>
    id === control
      ? Promise.resolve({ record: { id }, sent: 0, answered: 0 })
      : source.retrieve(kind, id, options);
}

type Append = Transaction['append'];

function within(wrap: (tx: Transaction) => Transaction): (session: Session) => Session {
  return (session) => ({ ...session, atomically: (work) => session.atomically((tx) => work(wrap(tx))) });
}

export function appending(
  append: (real: Append, rows: TableRows) => Promise<void>,
): (session: Session) => Session {
  return within((tx) => ({ ...tx, append: (rows) => append((some) => tx.append(some), rows) }));
}

export function putting(alter: (rows: TableRows) => TableRows): (session: Session) => Session {
  return within((tx) => ({ ...tx, putRows: (rows) => tx.putRows(alter(rows)) }));
}

/** Each transaction's events follow in one of their own. */
export function appendingEventsLater(session: Session): Session {
  return {
    ...session,
    atomically: async (work) => {
      const events: TableRows[] = [];
      const result = await session.atomically((tx) =>
        work({
          ...tx,
          append: async (rows) => {
            if (rows.table === 'changes') events.push(rows);
            else await tx.append(rows);
          },
        }),
      );
      for (const rows of events) await session.atomically((tx) => tx.append(rows));
      return result;
    },
  };
}

export function without({ table, columns, rows }: TableRows, column: string): TableRows {
  const at = columns.indexOf(column);
  const others = <T>(values: readonly T[]): T[] => values.filter((_value, index) => index !== at);
  return at === -1 ? { table, columns, rows } : { table, columns: others(columns), rows: rows.map(others) };
}

export function mapped(
  { table, columns, rows }: TableRows,
  alter: (column: string, value: SqlValue) => SqlValue,
): TableRows {
  return { table, columns, rows: rows.map((row) => row.map((value, at) => alter(columns[at] ?? '', value))) };
}

/** A body as it is after numbers have been floats. */
export function rounded(answer: HttpAnswer): HttpAnswer {
  try {
    const text = JSON.stringify(JSON.parse(Buffer.from(answer.bytes).toString()));
    return { ...answer, bytes: Buffer.from(text) };
  } catch {
    return answer; // No JSON: as it came.
  }
}
