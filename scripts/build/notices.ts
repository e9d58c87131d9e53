import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A library in the bundle, with the text that its licence asks to hand on. */
interface Notice {
  readonly name: string;
  readonly version: string;
  readonly text: string;
}

/**
 * Collects the licences of all libraries among the files of a bundle, in the order of their paths.
 *
 * @throws {Error} Where a library has no text of a licence: it must not be handed on.
 */
export function notices(inputs: readonly string[], root: string): Notice[] {
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  return [...new Set(folders)].sort().map((folder) => noticeOf(join(root, folder)));
}

/** The same libraries as scanners read them: a bill of materials in CycloneDX's form. */
export function billOf(libraries: readonly Notice[]): string {
  const components = libraries.map(({ name, version }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  }));
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, components }, null, 2)}\n`;
}

function noticeOf(folder: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  const file = readdirSync(folder).find((entry) => /^(?:license|licence|copying)/i.test(entry));
  if (file === undefined && license === undefined) throw new Error(`${name} ${version} names no licence.`);
  const licence = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, text: `=== ${name} ${version} (${license ?? 'see below'})\n\n${licence}\n` };
}
