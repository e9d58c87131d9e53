const UNRELEASED = '## Unreleased';

/** A release as the changelog names it. */
export interface Release {
  readonly version: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
}

/**
 * Moves what is under "Unreleased" under the heading of a release, and leaves an empty "Unreleased" above it.
 *
 * @throws {Error} Where nothing is unreleased, or the version has a section already.
 */
export function releaseChangelog(text: string, { version, date }: Release): string {
  const sections = text.split(/^(?=## )/m);
  const taken = sections.find((section) => versionOf(section) === version);
  if (taken !== undefined)
    throw new Error(`CHANGELOG.md has a section of ${version} already: choose a later version.`);
  const at = sections.findIndex((section) => section.startsWith(`${UNRELEASED}\n`));
  const unreleased = sections[at]?.slice(UNRELEASED.length) ?? '';
  if (!unreleased.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#')))
    throw new Error('CHANGELOG.md has no line under "Unreleased": there is nothing to release.');
  const moved = `${UNRELEASED}\n\n## ${version} (${date})${unreleased}`;
  return [...sections.slice(0, at), moved, ...sections.slice(at + 1)].join('');
}

const versionOf = (section: string): string | undefined => /^## (\S+)/.exec(section)?.[1];
