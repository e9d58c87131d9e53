import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { codeOf } from './pages.ts';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');

/** Where a page's commands install to, `pip` into its `venv`, `npm` into its `node_modules`: kept until the page says otherwise. */
export function homeOf(page: string): string {
  const hash = createHash('sha256')
    .update(codeOf(page, 'sh', ['Install']))
    .digest('hex');
  return join(CACHE, 'bms-sync-clients', `${page}-${hash.slice(0, 12)}`);
}

/** PATH with the page's own Python first. */
export function pathOf(page: string): string {
  return `${join(homeOf(page), 'venv/bin')}:${process.env['PATH'] ?? ''}`;
}

/**
 * Runs the commands under "Install" of a page, unless they have run before.
 *
 * @returns What went wrong, naming what cannot be had; null if nothing did.
 */
export function install(page: string): string | null {
  const problem = installPackages(packagesOf(page));
  const home = homeOf(page);
  const done = join(homeOf(page), 'done');
  if (problem !== null || existsSync(done)) return problem;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{}'); // So that npm installs here, not into a folder above.
  const commands = commandsOf(page).filter((command) => !command.startsWith(APT));
  for (const command of [`python3 -m venv ${join(home, 'venv')}`, ...commands]) {
    const env = { ...process.env, PATH: pathOf(page) };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: home, env, encoding: 'utf8' });
    if (status !== 0) return `${command}\n${stdout.slice(-1000)}${stderr.slice(-2000)}`;
  }
  writeFileSync(done, '');
  return null;
}

/** The packages of Debian that a page asks for. */
export function packagesOf(page: string): readonly string[] {
  const ofDebian = commandsOf(page).filter((command) => command.startsWith(APT));
  return ofDebian.flatMap((command) => command.slice(APT.length).split(' '));
}

const APT = 'sudo apt-get install ';

const commandsOf = (page: string): readonly string[] => codeOf(page, 'sh', ['Install']).trim().split('\n');

/** Asks for packages only where one is missing: that needs neither lock nor root. */
function installPackages(packages: readonly string[]): string | null {
  const missing = packages.filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0);
  if (missing.length === 0) return null;
  if (userInfo().uid !== 0) return `missing: ${missing.join(' ')}`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...argv: readonly string[]) =>
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...argv], { env, encoding: 'utf8' });
  apt('update');
  const { status, stderr } = apt('install', '-y', '--no-install-recommends', ...missing);
  return status === 0 ? null : `${missing.join(' ')}\n${stderr.slice(-2000)}`;
}
