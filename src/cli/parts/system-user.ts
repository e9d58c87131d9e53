import { hostname, userInfo } from 'node:os';

/** Who is at the command line: `ada@office`. Containers run programs under numbers that have no name. */
export function systemUser(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`; // No entry of this number is the only reason for it to fail.
  }
}
