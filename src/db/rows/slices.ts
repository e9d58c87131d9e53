/** Yields rows in slices of `size`, in the order of a key. @param read Reads the first `size` rows after a key. */
export async function* inSlices<Row, Key>(
  size: number,
  read: (after: Key) => Promise<readonly Row[]>,
  first: Key,
  keyOf: (row: Row) => Key,
): AsyncGenerator<readonly Row[]> {
  let after = first;
  for (let isLast = false; !isLast;) {
    const rows = await read(after);
    yield rows;
    isLast = rows.length < size;
    for (const row of rows.slice(-1)) after = keyOf(row);
  }
}

/** The same in the order of ids, of which none is negative. */
export const batchesById = <Row extends { readonly id: string }>(
  size: number,
  read: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> => inSlices(size, read, '0', (row) => row.id);

/** Works slices whose reading is all the work. */
export async function endOf(slices: AsyncGenerator<readonly unknown[]>): Promise<void> {
  while ((await slices.next()).done !== true);
}
