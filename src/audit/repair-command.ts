/** A longer list of ids is clumsy to pass on, and reading the whole list then takes no longer. */
const LONGEST_LIST = 2_000;

/**
 * Writes the command that reads records again: by their ids (in ascending order), or the whole list if there are many.
 */
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
