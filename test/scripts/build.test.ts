import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { notices } from '../../scripts/build/notices.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A checkout with one library, made of these files. */
function checkout(files: Readonly<Record<string, string>>): string {
  const root = tempFolder();
  const folder = join(root, 'node_modules/@scope/library');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return root;
}

const INPUTS = [
  'src/main.ts',
  'node_modules/@scope/library/a.js',
  'node_modules/@scope/library/lib/b.js',
] as const;

describe('notices', () => {
  test('a library of several files is named once, with its version and its licence', () => {
    const root = checkout({
      'package.json': '{ "name": "@scope/library", "version": "1.2.3", "license": "MIT" }',
      'LICENSE.md': 'Do what you like.\n',
    });

    const found = notices(INPUTS, root);

    expect(found).toEqual([
      {
        name: '@scope/library',
        version: '1.2.3',
        text: '=== @scope/library 1.2.3 (MIT)\n\nDo what you like.\n',
      },
    ]);
  });

  test('a library without a licence is refused', () => {
    const root = checkout({ 'package.json': '{ "name": "@scope/library", "version": "1.2.3" }' });
    expect(() => notices(INPUTS, root)).toThrow('@scope/library 1.2.3 names no licence');
  });
});

test('the build hands on the licences of the libraries in the bundle', () => {
  const text = readFileSync(join(import.meta.dirname, '../../dist/third-party.txt'), 'utf8');
  for (const name of ['fastify', 'pg', 'undici', 'zod'])
    expect(text).toMatch(new RegExp(`^=== ${name} \\d\\S+ \\(MIT\\)\\n\\n.*MIT`, 'ms'));
});

test('the build names the libraries in the bundle to scanners', () => {
  const bill = JSON.parse(readFileSync(join(import.meta.dirname, '../../dist/sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly purl: string }[];
  };
  const names = bill.components.map(({ purl }) => purl.replace(/@[^@]+$/, ''));
  expect(names).toEqual(
    expect.arrayContaining(['pkg:npm/fastify', 'pkg:npm/%40fastify/cookie', 'pkg:npm/pg']),
  );
});
