/** Prints the figures of the tree: how large it is, how it hangs together, and how it reads. `-- --json` for programs. */
import { countsOfText } from './house/language.ts';
import { countsOfProse } from './house/prose.ts';
import { installedPackages } from './house/packages.ts';
import { readTree } from './house/tree.ts';
import { duplicateTypes, unusedExports } from './house/exports.ts';
import { circles } from './house/circles.ts';
import { filesThatRun } from './house/running-files.ts';
import { testSeconds } from './house/test-seconds.ts';

const tree = readTree('src');
const figures = {
  folders: tree.folders,
  files: tree.files.length,
  lines: tree.files.reduce((sum, { lines }) => sum + lines, 0),
  largestFolder: Math.max(...tree.folders.map(({ files }) => files)),
  circles: circles(tree.files),
  duplicateTypes: duplicateTypes(tree.files),
  unusedExports: unusedExports(tree.files, [
    ...readTree('test').files,
    ...readTree('bench').files,
    ...readTree('scripts').files,
  ]),
  prose: countsOfProse(tree.files),
  language: countsOfText(tree.files),
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
  console.log(
    `\nsrc: ${figures.files} files, ${figures.lines} lines; largest folder ${figures.largestFolder} files`,
  );
  console.log(`circles of imports, types included: ${list(figures.circles)}`);
  console.log(`exported type names declared twice: ${list(figures.duplicateTypes)}`);
  console.log(`exports that nothing imports: ${list(figures.unusedExports)}`);
  console.log('how densely it is written:');
  for (const [name, count] of Object.entries(figures.prose)) console.log(`  ${name}: ${count}`);
  console.log('constructions that a reader must solve:');
  for (const [name, count] of Object.entries(figures.language)) console.log(`  ${name}: ${count}`);
  console.log(
    `installed packages: ${figures.packages.all}, of them for production ${figures.packages.production}`,
  );
  for (const { tier, seconds, files } of figures.testSeconds)
    console.log(`${tier}: ${seconds.toFixed(0)} s in ${files} files`);
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
