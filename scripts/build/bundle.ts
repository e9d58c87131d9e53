import {
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { billOf, notices } from './notices.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Loaded where they are installed: an addon, a parser in WebAssembly, and packages that a user may leave out. */
const EXTERNAL = ['better-sqlite3', 'libpg-query', 'pg-native', 'msgpackr-extract'];

/** CommonJS libraries in the bundle ask for Node's own modules by `require`, which an ES module does not have. */
const REQUIRE = `import { createRequire as createRequireOf } from 'node:module'; const require = createRequireOf(import.meta.url);`;

/** What the program runs as processes and threads of their own is named so. A feature that goes takes its own with it. */
const BESIDE_MAIN = 'src/**/*-{child,thread}.ts';

/** Bundles the program. */
export const buildProgram = (folder: string) =>
  bundle(['src/main.ts', ...globSync(BESIDE_MAIN, { cwd: ROOT }).toSorted()], folder);

/**
 * Bundles programs with the libraries that they import into a folder. What an earlier build left there stays for a day: a
 * process that runs from the folder loads some of its files late. Entries are written last, each file whole, and dated from the start: a
 * build that is broken off leaves none that looks newer than its source.
 *
 * What only one command needs stays in a file of its own, as only the command that is called is loaded. Names are kept short
 * of nothing: a stack in a report of a bug can be read without the source maps.
 *
 * @param entries Paths from the root of the checkout.
 */
export async function bundle(
  entries: readonly string[],
  folder: string,
): Promise<{ readonly bytes: number; readonly packages: number }> {
  const startedAt = new Date();
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...entries],
    outdir: folder,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22', // The oldest that we run on: it has no `using`.
    external: EXTERNAL,
    banner: { js: REQUIRE },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none', // All licences stand in one file.
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const packages = notices(Object.keys(metafile.inputs), ROOT);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'third-party.txt'), packages.map(({ text }) => text).join('\n'));
  writeFileSync(join(folder, 'sbom.cdx.json'), billOf(packages));
  const names = entries.map((entry) => basename(entry, '.ts'));
  const isEntry = (path: string): boolean => names.includes(basename(path, '.js'));
  for (const { path, contents } of outputFiles.toSorted(
    (a, b) => Number(isEntry(a.path)) - Number(isEntry(b.path)),
  )) {
    const fresh = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(fresh, contents, { mode: isEntry(path) ? 0o755 : 0o644 });
    utimesSync(fresh, startedAt, startedAt);
    renameSync(fresh, path);
  }
  for (const file of readdirSync(folder))
    if (Date.now() - statSync(join(folder, file)).mtimeMs > A_DAY_MS) rmSync(join(folder, file));
  return { bytes: sizeOf(metafile), packages: packages.length };
}

const A_DAY_MS = 86_400_000;

const sizeOf = ({ outputs }: Metafile): number =>
  Object.entries(outputs)
    .filter(([path]) => path.endsWith('.js'))
    .reduce((sum, [, { bytes }]) => sum + bytes, 0);
