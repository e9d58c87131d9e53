/**
 * Runs a tool of the checkout under Node 24: `node scripts/run.mjs [NAME=VALUE …] TOOL [ARGUMENT …]`. TOOL is a file of ours, the command
 * of a package, or a group of `GROUPS`, whose first argument chooses. Any Node from 20 on starts it, in any shell; every npm script does.
 *
 * npm runs no script of ours at `npm ci` (.npmrc), so what that would prepare is prepared here: the link to Node 24, and `dist/`.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findNode, noNode, runNode } from './node/start.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const BUILD = 'scripts/build.ts';

/** What `npm run bench -- pages` runs; what stands under `''` runs without such an argument. */
const GROUPS = {
  acceptance: {
    '': ['BMS_TEST_TIER=acceptance', 'vitest', 'run'],
    node: ['scripts/acceptance-node.ts'],
    soak: ['test/acceptance/soak.ts'],
  },
  bench: {
    '': ['bench/run.ts'],
    finds: ['bench/finds.ts'],
    kinds: ['bench/kinds.ts'],
    pages: ['bench/pages.ts'],
    plans: ['bench/plans.ts'],
    pushes: ['bench/pushes.ts'],
    reports: ['bench/reports.ts'],
    scans: ['bench/scans.ts'],
  },
  docs: {
    freshness: ['scripts/freshness.ts'],
    pictures: ['scripts/picture.ts'],
    reports: ['scripts/reports.ts'],
    settings: ['scripts/settings-table.ts'],
  },
  release: { '': ['scripts/release.ts'], check: ['scripts/release-check.ts'] },
};

/** Packages whose command has another name. */
const PACKAGES = { tsc: 'typescript' };
/** They read the source as text: they must run where it does not build. */
const READERS = ['cspell', 'eslint', 'prettier', 'tsc'];

process.exitCode = await run(process.argv.slice(2));

async function run(words) {
  const { variables, tool, argv } = parse(words);
  if (tool === undefined)
    return fail(`Expected one of: ${Object.keys(GROUPS[words[0]] ?? GROUPS).join(', ')}.`);
  if (!existsSync(join(MODULES, 'tsx')))
    return fail('node_modules is missing, or lacks what a checkout needs. Run npm ci --include=dev.');
  const node = findNode();
  if (node === undefined) return fail(noNode());
  if (node.isPackaged && process.platform !== 'win32') linkNode(node.path);
  if (tool !== BUILD && needsBuild(tool)) {
    process.stderr.write('bms-sync: building this checkout, which takes some seconds\n');
    const { status } = spawnSync(node.path, [...script(BUILD)], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 2],
    });
    if (status !== 0) return status ?? 1;
  }
  Object.assign(process.env, variables);
  return await runNode(node, [...script(tool), ...argv]);
}

function parse(words) {
  const group = GROUPS[words[0]];
  const chosen = group?.[words[1]] ?? group?.[''];
  if (chosen !== undefined) return parse([...chosen, ...words.slice(group[words[1]] === undefined ? 1 : 2)]);
  const isVariable = (word) => /^[A-Z_]+=/.test(word);
  const at = words.findIndex((word) => !isVariable(word));
  const variables = Object.fromEntries(words.slice(0, at).map((word) => word.split('=')));
  return { variables, tool: group === undefined ? words[at] : undefined, argv: words.slice(at + 1) };
}

/** Returns the arguments for Node that run a tool. */
function script(tool) {
  const { resolve } = createRequire(join(ROOT, 'package.json'));
  if (tool.endsWith('.ts')) return ['--import', pathToFileURL(resolve('tsx')).href, join(ROOT, tool)];
  if (tool.includes('/')) return [join(ROOT, tool)];
  const manifest = join(MODULES, PACKAGES[tool] ?? tool, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  return [join(dirname(manifest), typeof bin === 'string' ? bin : bin[tool])];
}

/**
 * Links `node_modules/.bin/node`, so that `npx vitest` and the like run on Node 24, too. npm itself links the package of one platform or
 * of none, according to its version.
 */
function linkNode(path) {
  const link = join(MODULES, '.bin/node');
  if (existsSync(link) && realpathSync(link) === realpathSync(path)) return;
  const fresh = `${link}.${process.pid}`;
  try {
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), path), fresh);
    renameSync(fresh, link);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error; // Of another user: npm scripts find Node without it.
  }
}

/** Tells whether `dist/` is missing, or older than what it is built from. */
function needsBuild(tool) {
  const built = join(ROOT, 'dist/main.js');
  if (!existsSync(built)) return true;
  if (READERS.includes(tool)) return false;
  const { mtimeMs } = statSync(built);
  return ['src', 'sandbox', 'scripts/build', 'scripts/build.ts', 'package.json', 'package-lock.json'].some(
    (path) => newest(join(ROOT, path)) > mtimeMs,
  );
}

/** The latest change of a file, or of anything in a folder; of a deleted file its folder's. */
function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function fail(text) {
  process.stderr.write(`Error: ${text}\n`);
  return 1;
}
