import { rangesOf, truncate } from '../../lib/text/text.ts';
import type { Difference } from './compare-record.ts';

const LONGEST = 80;
const LEAD_IN = 20;

/** Shortens the two values of a difference for display, from a little before the first differing character. */
export function shortenDifference({ field, service, mirror }: Difference): Difference {
  const a = service ?? '';
  const b = mirror ?? '';
  let firstDifference = 0;
  while (firstDifference < a.length && a[firstDifference] === b[firstDifference]) firstDifference++;
  const from = Math.max(a.length, b.length) > LONGEST ? Math.max(0, firstDifference - LEAD_IN) : 0;
  const cut = (text: string | null): string | null => {
    if (text === null) return null;
    const rest = from === 0 ? text : `…${text.slice(from).replace(/^[\udc00-\udfff]/, '')}`;
    return rest.length > LONGEST ? `${truncate(rest, LONGEST - 1)}…` : rest;
  };
  return { field, service: cut(service), mirror: cut(mirror) };
}

/** Above this length, reading the whole list is as fast as listing the ids. */
const LONGEST_LIST = 2_000;

/** The command that reads records again: by their ids, neighbours as ranges (`1,5-9`), or the whole list if there are many. */
export function repairCommand(kind: string, ids: readonly string[]): string | null {
  if (ids.length === 0) return null;
  const list = rangesOf(ids).join();
  return `bms-sync backfill ${kind} ${list.length <= LONGEST_LIST ? `--ids ${list}` : '--all'}`;
}
