type Cell = string | number | null | undefined;

/** Lays rows out in columns for a terminal, a line for each: numbers to the right, everything else to the left. */
export function textTable(header: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? '')));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = header.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...texts.map(line)];
}
