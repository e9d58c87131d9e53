/**
 * Finds a Node that is new enough and starts it: Node 24 from npm's package for this platform (`package.json` beside this file), else
 * the one that runs this file. Plain JavaScript, because an older Node reads it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'node_modules/bms-sync-node/package.json');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Returns the path of a Node that the program runs on, and whether npm brought it; undefined where there is none. */
export function findNode() {
  const packaged = packagedPrograms().find((path) => isNewEnough(versionOf(path)));
  if (packaged !== undefined) return { path: packaged, isPackaged: true };
  return isNewEnough(process.version) ? { path: process.execPath, isPackaged: false } : undefined;
}

/** Says what to do where `findNode` finds none. */
export const noNode = () =>
  `bms-sync needs Node ${oldest().join('.')} or later. This is ${process.version}, and node_modules has none for ${process.platform}-${process.arch}. Run npm ci, or install Node 24.`;

/**
 * Runs a Node, passes signals on to it, and waits for its end.
 *
 * @param stdio As of `spawn`; by default it has the terminal of this process.
 * @returns Its exit code; where a signal ended it, the same signal ends this process.
 */
export async function runNode({ path, isPackaged }, argv, stdio = 'inherit') {
  if (isPackaged) process.env.PATH = [dirname(path), process.env.PATH].join(delimiter);
  const child = spawn(path, argv, { stdio });
  const pass = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  const { code, signal } = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  for (const each of SIGNALS) process.off(each, pass);
  if (signal !== null) process.kill(process.pid, signal);
  return code ?? 1;
}

/** Starts this command line again under the Node that `findNode` finds; a channel tells the new process when this one is killed. */
export async function startAgain(argv) {
  const node = findNode();
  if (node !== undefined && realpathSync(node.path) !== realpathSync(process.execPath))
    return await runNode(node, argv, ['inherit', 'inherit', 'inherit', 'ipc']);
  process.stderr.write(`Error: ${noNode()}\n`);
  return 1;
}

function packagedPrograms() {
  if (!existsSync(PACKAGE)) return [];
  const { optionalDependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  const { resolve } = createRequire(realpathSync(PACKAGE)); // Beside it, wherever the package manager keeps it.
  return Object.keys(optionalDependencies).flatMap((name) => {
    try {
      const program = process.platform === 'win32' ? 'node.exe' : 'node';
      return [join(dirname(resolve(`${name}/package.json`)), 'bin', program)];
    } catch (error) {
      if (error.code === 'MODULE_NOT_FOUND') return []; // Of another platform.
      throw error;
    }
  });
}

/** Asks the program itself: one for another C library or another system is there, and does not run. */
const versionOf = (path) => spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '';

function isNewEnough(version) {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  const [oldestMajor, oldestMinor] = oldest();
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

function oldest() {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return engines.node.match(/\d+/g).map(Number);
}
