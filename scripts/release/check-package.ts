import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** What a package must hold to run, and all that it may hold. */
const NEEDED = [
  'dist/main.js',
  'dist/third-party.txt',
  'dist/sbom.cdx.json',
  'assets/dashboard.css',
  'migrations/sqlite/meta/_journal.json',
  'migrations/postgres/meta/_journal.json',
];
const DOCUMENTS = ['config/default.yaml', 'docs/settings.md', 'CHANGELOG.md', 'LICENSE', 'README.md'];
const ALLOWED = /^(?:dist|assets|migrations|config|docs)\/|^(?:package\.json|[A-Z]+(?:\.md)?)$/;

/**
 * Builds and packs a checkout.
 *
 * @returns The path of the tarball.
 * @throws {Error} Where a file is missing from it, or does not belong there.
 */
export function packPackage(root: string, folder: string): string {
  rmSync(join(root, 'dist'), { recursive: true, force: true }); // It may hold files of earlier builds.
  const said = npm(['pack', '--json', '--pack-destination', folder], root);
  const [packed] = JSON.parse(said.slice(said.search(/^\[/m))) as Packed[];
  if (packed === undefined) throw new Error('npm packed nothing.');
  const paths = packed.files.map(({ path }) => path);
  const missing = [...NEEDED, ...DOCUMENTS].filter((path) => !paths.includes(path));
  const foreign = paths.filter((path) => !ALLOWED.test(path));
  if (missing.length > 0) throw new Error(`The package lacks ${missing.join(', ')}.`);
  if (foreign.length > 0)
    throw new Error(`The package holds what does not belong there: ${foreign.join(', ')}.`);
  return join(folder, packed.filename);
}

/**
 * Installs a package in an empty folder, as a user would, and runs the demo there.
 *
 * @throws {Error} Where the installation or the demo fails, or its version is another.
 */
export function checkPackage(tarball: string, version: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-package-'));
  try {
    npm(['install', tarball], folder);
    const told = run('npx', ['--no-install', 'bms-sync', '--version'], folder).trim();
    if (told !== version)
      throw new Error(`The installed package says that it is ${told}, expected ${version}.`);
    const demo = run('npx', ['--no-install', 'bms-sync', 'demo', '--once'], folder);
    if (!demo.includes('purchase_products')) throw new Error(`The demo did not show its kinds:\n${demo}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const npm = (argv: readonly string[], cwd: string): string => run('npm', argv, cwd);

/** Runs a program without the variables that `npm run` sets: they would speak of this checkout. */
function run(program: string, argv: readonly string[], cwd: string): string {
  const env = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|BMS_|NODE_ENV)/.test(name));
  return execFileSync(program, argv, {
    cwd,
    env: Object.fromEntries(env),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
