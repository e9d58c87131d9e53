/** Quotes a table or column name for SQL; it may contain any character. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text for the few statements that take no parameters: views and comments. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
