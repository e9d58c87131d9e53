import { shortened } from '../../lib/text/text.ts';
import type { Difference } from './compare-record.ts';

const LONGEST = 80;
const LEAD_IN = 20;

/** Shortens the two values of a difference for display, from a little before the first differing character. */
export function shown({ field, service, mirror }: Difference): Difference {
  const start = Math.max(0, partingOf(service ?? '', mirror ?? '') - LEAD_IN);
  const from = Math.max(service?.length ?? 0, mirror?.length ?? 0) > LONGEST ? start : 0;
  const cut = (text: string | null): string | null => (text === null ? null : excerptFrom(text, from));
  return { field, service: cut(service), mirror: cut(mirror) };
}

/** The position of the first character in which they differ. */
function partingOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function excerptFrom(text: string, from: number): string {
  const rest = from === 0 ? text : `…${text.slice(from).replace(/^[\udc00-\udfff]/, '')}`;
  return rest.length > LONGEST ? `${shortened(rest, LONGEST - 1)}…` : rest;
}

/** A longer list of ids is clumsy to pass on, and reading the whole list then takes no longer. */
const LONGEST_LIST = 2_000;

/** Writes the command that reads records again: by their ids (in ascending order), or the whole list if there are many. */
export function repairCommand(kind: string, ids: readonly bigint[]): string {
  const list = ranges(ids);
  return `bms-sync backfill ${kind} ${list.length <= LONGEST_LIST ? `--ids ${list}` : '--all'}`;
}

/** `1,5-9`: neighbours as ranges. */
function ranges(ids: readonly bigint[]): string {
  const found: { from: bigint; to: bigint }[] = [];
  for (const id of ids) {
    const last = found.at(-1);
    if (last !== undefined && last.to + 1n === id) last.to = id;
    else found.push({ from: id, to: id });
  }
  return found.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join();
}
