import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { FEATURES } from '../support/features.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const TSCONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    incremental: true,
    tsBuildInfoFile: 'build-info.json',
    noUnusedLocals: false,
    preserveSymlinks: true,
  },
  include: ['src', 'sandbox'],
};

test('without a feature, those that import it, and their lines of the lists the rest compiles', async () => {
  const folder = tempFolder();
  for (const name of ['node_modules', 'sandbox', 'package.json']) link(folder, name);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  layTree(folder);
  expect(await compile(folder)).toBe('');

  for (const feature of Object.keys(FEATURES)) {
    const gone = [feature, ...Object.keys(FEATURES).filter((name) => FEATURES[name]?.includes(feature))];
    layTree(folder);
    for (const name of gone) deleteFeature(folder, name);
    expect(await compile(folder), `without ${gone.join(', ')}`).toBe('');
  }
});

/** The folders of `src/` as links: only the lists are files that a test may change. */
function layTree(folder: string): void {
  rmSync(join(folder, 'src'), { recursive: true, force: true });
  mkdirSync(join(folder, 'src/features'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'src')).filter((each) => each !== 'features'))
    if (name.endsWith('.ts')) copyFileSync(join(ROOT, 'src', name), join(folder, 'src', name));
    else link(folder, join('src', name));
  for (const name of Object.keys(FEATURES)) link(folder, join('src/features', name));
}

const link = (folder: string, path: string): void => {
  symlinkSync(join(ROOT, path), join(folder, path));
};

/** What the compiler finds; nothing if all is well. */
async function compile(folder: string): Promise<string> {
  const run = promisify(execFile)(process.execPath, [TSC, '-p', folder], { cwd: folder });
  return await run.then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}

function deleteFeature(folder: string, name: string): void {
  rmSync(join(folder, 'src/features', name));
  edit(join(folder, 'src/features.ts'), (text) => withoutLazyMembers(text, name));
  edit(join(folder, 'src/feature-hooks.ts'), (text) =>
    withoutImported(withoutLazyMembers(text, name), name).replace(/= \{\s*\};/, '= null;'),
  );
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Leaves out each member of a list, from its first line to its comma, that loads a file of the feature. */
function withoutLazyMembers(text: string, feature: string): string {
  const member = /^ {2}(?:\w+: )?(?:async )?\(\) =>[^;]*?\),?(?:\.\w+)?.*,\n/gm;
  return text.replace(member, (found) => (found.includes(`'./features/${feature}/`) ? '' : found));
}

/** Leaves out what a list imports of the feature at once, and the members that it names. */
function withoutImported(text: string, feature: string): string {
  const lines = text.split('\n');
  const imports = lines.filter((line) => line.includes(`from './features/${feature}/`));
  const names = imports.map((line) => /(\w+)(?: \})? from/.exec(line)?.[1] ?? '');
  return names.reduce(
    (left, name) =>
      left
        .replace(new RegExp(`^  \\.\\.\\..*\\b${name}\\b.*\n`, 'gm'), '')
        .replace(new RegExp(`(?:, )?\\b${name}\\b(?=\\]|, )`, 'g'), ''),
    lines.filter((line) => !imports.includes(line)).join('\n'),
  );
}
