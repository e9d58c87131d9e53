/** Prints the figures of the tree: how large it is, and how it hangs together. `-- --json` for programs. */
import { bundleBytes, countTree } from './house/counts.ts';
import { installedPackages } from './house/packages.ts';
import { readTree } from './house/tree.ts';
import { duplicateNames, unusedExports } from './house/exports.ts';
import { circles } from './house/circles.ts';
import { filesThatRun } from './house/running-files.ts';
import { testSeconds } from './house/test-seconds.ts';
import { wordsByDocument } from './house/documents.ts';

const tree = readTree('src');
const others = ['test', 'bench', 'scripts'].flatMap((name) => readTree(name).files);
const words = wordsByDocument();
const figures = {
  folders: tree.folders,
  files: tree.files.length,
  counts: countTree(),
  bundleBytes: await bundleBytes(),
  largestFolder: Math.max(...tree.folders.map(({ files }) => files)),
  circles: circles(tree.files),
  duplicateTypes: duplicateNames(tree.files, 'types'),
  duplicateValues: duplicateNames(tree.files, 'values'),
  unusedExports: unusedExports(tree.files, others),
  words: { all: words.reduce((sum, one) => sum + one.words, 0), byDocument: words },
  packages: installedPackages(),
  testSeconds: testSeconds(),
  running: process.argv.includes('--run') ? await filesThatRun() : null,
};

if (process.argv.includes('--json')) console.log(JSON.stringify(figures, null, 2));
else print();

function print(): void {
  console.log('folder                    files  lines');
  for (const { name, files, lines } of figures.folders)
    console.log(`${name.padEnd(25)} ${String(files).padStart(5)} ${String(lines).padStart(6)}`);
  console.log(`\nsrc: ${figures.files} files; largest folder ${figures.largestFolder} files\n`);
  console.table({
    src: figures.counts.src,
    'tracked, but tests, documents, lock file, migrations': figures.counts.all,
  });
  console.log(`bundle, installed: ${(figures.bundleBytes / 1e6).toFixed(2)} MB`);
  console.log(`circles of imports, types included: ${list(figures.circles)}`);
  console.log(`exported type names declared twice: ${list(figures.duplicateTypes)}`);
  console.log(`exported functions and values declared twice: ${list(figures.duplicateValues)}`);
  console.log(`exports that nothing imports: ${list(figures.unusedExports)}`);
  console.log(`words of the documents: ${figures.words.all}`);
  for (const { path, words } of figures.words.byDocument.slice(0, 25)) console.log(`  ${words} ${path}`);
  console.log(
    `installed packages: ${figures.packages.all}, of them for production ${figures.packages.production}`,
  );
  for (const { tier, seconds, processor, files } of figures.testSeconds)
    console.log(
      `${tier}: ${seconds.toFixed(0)} s, ${processor.toFixed(0)} of the processor, in ${files} files`,
    );
  if (figures.running !== null)
    console.log(
      `files that run for every page: ${figures.running.page.length}; for every entry: ${figures.running.entry.length}; for every event: ${figures.running.event.length}`,
    );
}

function list(names: readonly string[]): string {
  return names.length === 0
    ? 'none'
    : `${names.length} (${names.slice(0, 12).join(', ')}${names.length > 12 ? ' …' : ''})`;
}
