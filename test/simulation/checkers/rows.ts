import type { KindDump, MirrorRow } from '../dump.ts';
import { isSameContent, presenceAt, presenceNow, stateNow } from '../ledger.ts';
import type { Ledger } from '../ledger.ts';
import type { Checker, Violation } from './violation.ts';

type Found = readonly Violation[];

/** Rows that the service had when the mirror, as it was then, had them not. */
export function lostRows(ledger: Ledger, { rows }: KindDump, atMs: number): Found {
  return [...ledger.histories.values()]
    .filter((history) => presenceAt(history, atMs) === 'listed')
    .filter(({ id }) => (rows.get(id)?.deletedAt ?? (rows.has(id) ? null : 'never')) !== null)
    .map(({ id }) =>
      violation('lost row', ledger, `${id} is in the service; mirror: ${shown(rows.get(id))}`),
    );
}

/** Rows, or contents of rows, that no record ever had. */
export function inventedRows(ledger: Ledger, { rows }: KindDump): Found {
  return [...rows.values()]
    .filter(({ id, raw }) => !(ledger.histories.get(id)?.states.some(({ text }) => text === raw) ?? false))
    .map((row) => violation('invented', ledger, `${row.id} never was ${shown(row)}`));
}

/** The mirror's live rows against the service's records, once everything has come to rest. */
export function unequal(ledger: Ledger, { rows }: KindDump): Found {
  const histories = [...ledger.histories.values()].filter((history) => presenceNow(history) === 'listed');
  const here = new Set(histories.map(({ id }) => id));
  const wrong = histories.filter((history) => {
    const [row, state] = [rows.get(history.id), stateNow(history)];
    return row?.deletedAt !== null || state === undefined || !isSameContent(history, row.raw, state.text);
  });
  const left = [...rows.values()].filter(({ id, deletedAt }) => deletedAt === null && !here.has(id));
  return [
    ...wrong.map((history) =>
      violation(
        'unequal',
        ledger,
        `${history.id}: the service has ${stateNow(history)?.text ?? ''}; mirror: ${shown(rows.get(history.id))}`,
      ),
    ),
    ...left.map((row) => violation('unequal', ledger, `${row.id} is gone; mirror: ${shown(row)}`)),
  ];
}

/** Columns that hold something else than the record's own content says. */
export function wrongColumns(ledger: Ledger, { rows }: KindDump): Found {
  return [...rows.values()].flatMap((row) => {
    const state = ledger.histories.get(row.id)?.states.find(({ text }) => text === row.raw);
    return [...row.columns].flatMap(([column, value]) => {
      const expected = state?.content.get(column)?.column;
      if (expected === undefined || expected === value) return [];
      const [got, wanted] = [JSON.stringify(value), JSON.stringify(expected)];
      return [violation('wrong column', ledger, `${row.id} ${column}: got ${got}, expected ${wanted}`)];
    });
  });
}

export function violation(checker: Checker, { kind }: Pick<Ledger, 'kind'>, detail: string): Violation {
  return { checker, kind, detail };
}

function shown(row: MirrorRow | undefined): string {
  if (row === undefined) return 'no row';
  return `${row.deletedAt === null ? 'live' : `deleted ${row.deletedAt}`} ${row.raw}`;
}
