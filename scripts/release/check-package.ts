import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** What a package holds beside the build: the committed files of these. npm's own list is `files` of package.json. */
const COMMITTED = [
  'src/dashboard/assets',
  'src/features/reports/catalogue',
  'migrations',
  'config',
  ':(glob)docs/*.md',
  'docs/fr',
  'docs/reporting',
  ':(glob)*.md',
  ':(exclude)ARCHITECTURE.md',
  ':(exclude)CONTRIBUTING.md',
  'LICENSE',
  'scripts/bms-sync.mjs',
  'package.json',
];

/**
 * Builds and packs a checkout. npm itself would pack what happens to be there, since it runs no `prepack` here.
 *
 * @returns The path of the tarball.
 * @throws {Error} Where a file is missing from it, or does not belong there.
 */
export function packPackage(root: string, folder: string): string {
  rmSync(join(root, 'dist'), { recursive: true, force: true }); // It may hold files of earlier builds.
  npm(['run', 'build'], root);
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root)) as Packed[];
  if (packed === undefined) throw new Error('npm packed nothing.');
  const committed = run('git', ['ls-files', '-z', '--', ...COMMITTED], root).split('\0');
  const built = readdirSync(join(root, 'dist')).map((name) => `dist/${name}`);
  const expected = new Set([...committed.filter((path) => path !== ''), ...built]);
  const held = new Set(packed.files.map(({ path }) => path));
  const missing = [...expected].filter((path) => !held.has(path));
  const foreign = [...held].filter((path) => !expected.has(path));
  if (missing.length > 0) throw new Error(`The package lacks ${missing.join(', ')}.`);
  if (foreign.length > 0)
    throw new Error(`The package holds what does not belong there: ${foreign.join(', ')}.`);
  return join(folder, packed.filename);
}

/**
 * Installs a package in an empty folder, as a user would (as root: as an ordinary one), and runs the demo, a pull and `serve`
 * there.
 *
 * @throws {Error} Where one of these fails, or the version is another.
 */
export async function checkPackage(tarball: string, version: string): Promise<void> {
  const user: User = userInfo().uid === 0 ? NOBODY : {};
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-package-'));
  const bmsSync = (...argv: string[]): string => run('npx', ['--no-install', 'bms-sync', ...argv], folder, user);
  await using sandbox = await startSandbox({ size: 50 });
  try {
    copyFileSync(tarball, join(folder, 'package.tgz'));
    chmodSync(join(folder, 'package.tgz'), 0o644);
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
    run('npm', ['install', '--cache', join(folder, '.npm'), './package.tgz'], folder, user);
    const printed = bmsSync('--version').trim();
    if (printed !== version)
      throw new Error(`The installed package says that it is ${printed}, expected ${version}.`);
    const demo = bmsSync('demo', '--once');
    if (!demo.includes('purchase_products')) throw new Error(`The demo did not show its kinds:\n${demo}`);
    await checkServe(folder, user, sandbox);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The user that a system keeps for people who own nothing. */
const NOBODY = { uid: 65534, gid: 65534 };
type User = Partial<typeof NOBODY>;

/** Pulls the clients of a sandbox, then asks a `serve` whether it is ready. */
async function checkServe(folder: string, user: User, sandbox: Sandbox): Promise<void> {
  const env = { ...environment(folder), BMS_BASE_URL: sandbox.url, BMS_TOKEN: sandbox.token, PORT: '0' };
  const program = join(folder, 'node_modules/.bin/bms-sync');
  const { stdout } = await promisify(execFile)(program, ['pull', 'clients', '--json'], { cwd: folder, env, ...user });
  if (!stdout.includes('"certified"')) throw new Error(`pull did not certify the clients:\n${stdout}`);
  const serve = spawn(program, ['serve'], { cwd: folder, env, ...user });
  try {
    let log = '';
    serve.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    let url: string | undefined;
    while (url === undefined && serve.exitCode === null) {
      await once(serve.stderr, 'data', { signal: AbortSignal.timeout(60_000) });
      url = /"address":"([^"]+)"/.exec(log)?.[1];
    }
    const ready = await fetch(new URL('/ready', url));
    if (!ready.ok) throw new Error(`serve is not ready: ${log}`);
  } finally {
    serve.kill();
    await once(serve, 'close');
  }
}

const npm = (argv: readonly string[], cwd: string): string => run('npm', argv, cwd);

const run = (program: string, argv: readonly string[], cwd: string, user: User = {}): string =>
  execFileSync(program, argv, {
    cwd,
    env: user.uid !== undefined ? environment(cwd) : withoutOurs(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...user,
  });

/** Without the variables that `npm run` sets: they would speak of this checkout. */
const withoutOurs = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|BMS_|NODE_ENV)/.test(name)));

/** That of a user whose home is the folder. */
const environment = (folder: string): Record<string, string | undefined> => ({ ...withoutOurs(), HOME: folder });
