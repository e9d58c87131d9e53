import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';

const POLICY = '/usr/sbin/policy-rc.d';
const LOCK = join(tmpdir(), 'bms-sync-tests-apt.lock');

/** A program that tests need, and the package of Debian that has it. */
export interface NeededProgram {
  /** Names under which it may be on PATH. */
  readonly names: readonly string[];
  readonly package: string;
  /** For messages: `a redis-server (6.2 or later)`. */
  readonly what: string;
}

/** The path of a program; as root on Debian or Ubuntu, installs it where it is absent. */
export function findProgram({ names, package: debian, what }: NeededProgram): string {
  const find = (): string | null => names.map(onPath).find((path) => path !== null) ?? null;
  const found = find();
  if (found !== null) return found;
  if (userInfo().uid === 0 && onPath('apt-get') !== null) install(debian);
  const installed = find();
  if (installed !== null) return installed;
  throw new Error(`The tests need ${what} on PATH, and there is none: sudo apt-get install ${debian}`);
}

function onPath(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Debian starts a service at installation where nothing forbids it; the tests start servers of their own. */
function install(debian: string): void {
  const forbids = !existsSync(POLICY);
  if (forbids) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const get = (...args: readonly string[]): void => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('flock', [LOCK, 'apt-get', ...args], { stdio: 'ignore', env }); // Another test file may be installing.
  };
  try {
    try {
      get('install', '-y', '--no-install-recommends', debian);
    } catch {
      get('update'); // The lists of a fresh image are old or absent.
      get('install', '-y', '--no-install-recommends', debian);
    }
  } catch (error) {
    throw new Error(`The tests need ${debian}, and apt-get could not install it.`, { cause: error });
  } finally {
    if (forbids) rmSync(POLICY);
  }
}
