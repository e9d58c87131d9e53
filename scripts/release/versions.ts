const VERSION = /^(\d+)\.(\d+)\.(\d+)(-dev)?$/;
const IMAGE = /(\bimage: bms-sync:)\S+/g;

/** Whether a version is main's own on the way to a release: `2.0.0-dev` comes before `2.0.0`. */
export const isDevelopment = (version: string): boolean => version.endsWith('-dev');

/**
 * Whether one version comes before another: `1.9.0` before `1.10.0`.
 *
 * @throws {Error} Where one of them is not three numbers.
 */
export function isBefore(version: string, other: string): boolean {
  const ours = numbersOf(version);
  const theirs = numbersOf(other);
  const at = ours.findIndex((number, place) => number !== theirs[place]);
  return at !== -1 && (ours[at] ?? 0) < (theirs[at] ?? 0);
}

function numbersOf(version: string): number[] {
  const found = VERSION.exec(version);
  if (found === null) throw new Error(`${version} is no version: expected three numbers, such as 1.2.0.`);
  return [...found.slice(1, 4).map(Number), isDevelopment(version) ? 0 : 1];
}

/** Sets the version of package.json. */
export function setPackageVersion(text: string, version: string): string {
  return jsonText({ ...(JSON.parse(text) as object), version });
}

interface LockFile {
  readonly packages: Readonly<Record<string, object>>;
}

/** Sets the version of package-lock.json, which has it twice. */
export function setLockVersion(text: string, version: string): string {
  const lock = JSON.parse(text) as LockFile;
  const { '': own, ...others } = lock.packages;
  return jsonText({ ...lock, version, packages: { '': { ...own, version }, ...others } });
}

/** Sets the tag of our image in a file of `deploy/`. */
export function setImageVersion(text: string, version: string): string {
  return text.replace(IMAGE, (_, image: string) => image + version);
}

const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
