/** The code of an error of Node or a driver, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there: a part of its path is no folder',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

/** Says why a file cannot be read, as the end of a sentence about it: `is not there`. */
export function fileFault(error: unknown): string {
  const code = errorCode(error);
  return WORDS[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}
