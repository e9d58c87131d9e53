/**
 * Makes a release: `npm run release -- X.Y.Z [--dry-run]`; X.Y.Z-dev only names the next one on main. Sets version and changelog, makes `release/` (the package,
 * the image's context, the bill of materials, checksums) and, where Docker answers, the image; leaves a mirror of either database in
 * `test/released/`; prints what remains for a person.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkPackage, packPackage } from './release/check-package.ts';
import { RELEASED_FILES, releaseEdits } from './release/edits.ts';
import { leaveMirrors } from './release/leave-mirrors.ts';
import { isDevelopment } from './release/versions.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'release');

const REMAINS = `What remains:
  npm run proofs                                      # the version is in package-lock.json: test/proofs.lock is made anew
  git add --all && git commit --message 'Release X.Y.Z'
  git tag --annotate vX.Y.Z --message 'bms-sync X.Y.Z'
  git push --follow-tags
  npm run release -- X.Y.Z-dev                        # of the release after it, and commit: main is not what was released
  npm publish release/bms-sync-X.Y.Z.tgz, and docker push of bms-sync:X.Y.Z under the name of your registry`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
});
try {
  await release(positionals, values['dry-run']);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function release([version, ...others]: readonly string[], isDry: boolean): Promise<void> {
  if (version === undefined || others.length > 0)
    throw new Error('Expected one version: npm run release -- X.Y.Z [--dry-run]');
  const changed = output('git', ['status', '--porcelain']);
  if (changed !== '') throw new Error(`The tree has changes that are not committed:\n${changed}`);
  const before = new Map(RELEASED_FILES.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
  const after = releaseEdits(before, { version, date: new Date().toISOString().slice(0, 10) });
  if (isDry) {
    console.log(`${version} would change ${[...after.keys()].join(', ')}, and make ${FOLDER}/.`);
    return;
  }
  write(after);
  if (isDevelopment(version)) return;
  try {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER);
    const tarball = packPackage(ROOT, FOLDER);
    await checkPackage(tarball, version);
    const bill = join(FOLDER, `bms-sync-${version}.sbom.cdx.json`);
    copyFileSync(join(ROOT, 'dist/sbom.cdx.json'), bill);
    const context = join(FOLDER, `bms-sync-${version}.image.tar.gz`);
    output('tar', ['--create', '--gzip', '--file', context, 'Dockerfile', ...copiedFiles()]);
    const files = [tarball, bill, context].map((path) => basename(path));
    writeFileSync(join(FOLDER, 'SHA256SUMS'), files.map((file) => `${digestOf(file)}  ${file}\n`).join(''));
    await leaveMirrors(ROOT, join(ROOT, 'test/released', version));
    console.log(`${FOLDER} holds ${files.join(', ')} and their checksums.`);
    makeImage(version);
  } catch (error) {
    write(before); // A release that failed leaves the tree as it was, and can be tried again.
    throw error;
  }
  console.log(REMAINS.replaceAll('X.Y.Z', version));
}

/** What the Dockerfile copies into the image: its context, from which any builder makes it. */
function copiedFiles(): string[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  return [...new Set([...lines].flatMap(([, sources = '']) => sources.split(' ')))];
}

function digestOf(file: string): string {
  const content = readFileSync(join(FOLDER, file));
  return createHash('sha256').update(content).digest('hex');
}

function write(texts: ReadonlyMap<string, string>): void {
  for (const [path, text] of texts) writeFileSync(join(ROOT, path), text);
}

function makeImage(version: string): void {
  const image = `bms-sync:${version}`;
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0) {
    console.log(
      `Docker does not answer here, so there is no image. Where it does: docker build --tag ${image} .`,
    );
    return;
  }
  const { status } = spawnSync('docker', ['build', '--tag', image, ROOT], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`docker build ended with ${String(status)}.`);
  console.log(`The image is ${image}.`);
}

function output(program: string, argv: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, argv, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')} failed: ${stderr}`);
  return stdout.trimEnd();
}
