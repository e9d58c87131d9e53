import { releaseChangelog, type Release } from './changelog.ts';
import { isBefore, isDevelopment, setImageVersion, setLockVersion, setPackageVersion } from './versions.ts';

/** How a release changes each file that names the version. */
const EDITS: Readonly<Record<string, (text: string, release: Release) => string>> = {
  'CHANGELOG.md': (text, release) => (isDevelopment(release.version) ? text : releaseChangelog(text, release)),
  'package.json': (text, { version }) => setPackageVersion(text, version),
  'package-lock.json': (text, { version }) => setLockVersion(text, version),
  'deploy/compose.yaml': (text, { version }) => setImageVersion(text, version),
  'deploy/kubernetes.yaml': (text, { version }) => setImageVersion(text, version),
};

/** The files that name the version, by their paths. */
export const RELEASED_FILES: readonly string[] = Object.keys(EDITS);

/**
 * The texts of these files for a release.
 *
 * @param texts Their present texts, by path.
 * @throws {Error} Where nothing is unreleased, or the version is malformed, taken, or lower than the present one.
 */
export function releaseEdits(texts: ReadonlyMap<string, string>, release: Release): Map<string, string> {
  const present = (JSON.parse(texts.get('package.json') ?? '') as { version: string }).version;
  if (isBefore(release.version, present))
    throw new Error(`${release.version} comes before ${present}, the version in package.json.`);
  return new Map(
    [...texts].map(([path, text]) => {
      const edit = EDITS[path];
      if (edit === undefined) throw new Error(`${path} does not name the version.`);
      return [path, edit(text, release)];
    }),
  );
}
