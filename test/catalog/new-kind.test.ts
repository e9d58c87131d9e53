import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { documentedKind } from '../../src/catalog/kinds/catalog.ts';
import { ONLY_PROGRESS, document, json, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES, ask } from '../support/mirror-file.ts';
import { runProgram, start, type Program, type ProgramOptions } from '../support/program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The catalogue file that CONTRIBUTING.md shows, under a name that no kind has. */
function exampleKind(): { readonly name: string; readonly text: string } {
  const text = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'))?.[1] ?? '';
  const shown = /^export const (\w+): Kind/m.exec(text)?.[1] ?? expect.fail('no kind');
  return { name: `further_${shown}`, text: text.replaceAll(shown, `further_${shown}`) };
}

/** Written again file by file, here and below: a copied file with the sandbox's token would count as a leak of it. */
function copyTo(folder: string, part: string): void {
  const from = join(ROOT, part);
  if (statSync(from).isFile()) {
    mkdirSync(dirname(join(folder, part)), { recursive: true });
    writeFileSync(join(folder, part), readFileSync(from, 'utf8'));
  } else for (const name of readdirSync(from)) copyTo(folder, join(part, name));
}

/** A copy of the program that has the kind, by its file and its entry alone. */
async function programWith({
  name,
  text,
}: ReturnType<typeof exampleKind>): Promise<Required<Pick<ProgramOptions, 'main' | 'cwd'>>> {
  const copy = tempFolder();
  for (const part of ['src', 'sandbox', 'migrations', 'config', 'package.json']) copyTo(copy, part);
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, `src/catalog/kinds/${name}.ts`), text);
  const path = join(copy, 'src/catalog/kinds/catalog.ts');
  const catalog = readFileSync(path, 'utf8');
  const entered = catalog.replace(/(KINDS: readonly Kind\[\] = \[[^\]]*)\]/, `$1  ${name},\n]`);
  expect(entered).not.toBe(catalog);
  writeFileSync(path, `import { ${name} } from './${name}.ts';\n${entered}`);
  const dist = join(copy, 'dist');
  await bundle([join(copy, 'src/main.ts')], dist);
  for (const name of readdirSync(dist))
    writeFileSync(join(dist, name), readFileSync(join(dist, name), 'utf8'));
  return { cwd: copy, main: [join(dist, 'main.js')] };
}

/** The first line that a program prints. */
async function firstLine({ child }: Program): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}

test('a kind is one file and its entry: the sandbox serves it, pull mirrors it, verify compares it', async () => {
  const kind = exampleKind();
  expect(documentedKind(kind.name)).toBeUndefined();
  const program = await programWith(kind);
  const sandbox = start(['sandbox', '--port', '0', '--size', '30', '--json'], program);
  const served = JSON.parse(await firstLine(sandbox)) as { url: string; token: string };
  const path = join(program.cwd, 'mirror.db');
  const env = settingsFor(served, path);

  const pulled = await runProgram(['pull', '--json'], { ...program, env });

  expect(pulled).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  expect(json(pulled).kinds.map((report) => report.kind)).toEqual([...KIND_NAMES, kind.name]);
  expect(json(pulled).kinds.at(-1)).toMatchObject({ state: 'certified', rows: 30, quarantined: 0 });
  const joined = `select 1 from bi_${kind.name} i join bi_clients c on c.id = i.client_id`;
  expect(ask(path, joined)).toHaveLength(30);
  expect(ask(path, `select 1 from bi_${kind.name}_lines`).length).toBeGreaterThan(0);
  expect(ask(path, `select distinct code from bi_${kind.name}`)).toHaveLength(30);

  const verified = await runProgram(['verify', '--json'], { ...program, env });

  expect(verified).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  expect((document(verified) as { kinds: readonly object[] }).kinds.at(-1)).toMatchObject({
    kind: kind.name,
    same: 30,
    differs: 0,
    missing: 0,
    surplus: 0,
    quarantined: 0,
  });
  sandbox.child.kill('SIGINT');
  expect(await sandbox.ended).toMatchObject({ code: 0, stderr: '' });
});
