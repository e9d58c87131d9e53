import { KINDS } from '../catalog/kinds/catalog.ts';
import { excludeFields } from '../catalog/exclude.ts';
import { fromDeclared, joinKinds, readyKinds } from '../catalog/declared-kinds.ts';
import { findKind, listsFields } from '../catalog/find-kind.ts';
import { isListed, type Kind, type ListedKind } from '../catalog/kind.ts';
import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import type { Config } from './settings.ts';

/** Every record kind of this mirror: the catalogue's, then those of the settings, without the fields that are excluded. */
export function allKinds(config: Config): readonly Kind[] {
  const { exclude } = config.privacy;
  return kindsOf(config).map((kind) => excludeFields(kind, exclude[kind.name] ?? []));
}

/** A kind of the settings stands in place of the one of a ready file. */
function kindsOf(config: Config): readonly Kind[] {
  const ready = config.includeKinds
    .flatMap(readyKinds)
    .filter((kind) => !Object.hasOwn(config.kinds, kind.name));
  return joinKinds(KINDS, [...fromDeclared(config.kinds), ...ready]);
}

/**
 * Refuses names of fields in settings that neither the documentation, the settings nor the mirror show.
 *
 * @param readSeen Reads the names of the fields that a mirror has seen, by kind; called where only they can tell.
 * @throws {UsageError} `settings.unknown_field`
 */
export async function refuseUnknownFields(
  config: Config,
  readSeen: (kinds: readonly string[]) => Promise<ReadonlyMap<string, Iterable<string>>>,
): Promise<void> {
  const doubtful = kindsOf(config).flatMap(({ name: kind, fields, hints }) => {
    const known = [...fields, ...hints].map((field) => field.name);
    const named = {
      [`privacy.exclude.${kind}`]: config.privacy.exclude[kind] ?? [],
      [`diff.ignoreFields.${kind}`]: config.diff.ignoreFields[kind] ?? [],
      alerts: config.alerts.filter((rule) => rule.kind === kind).map((rule) => rule.field),
    };
    return Object.entries(named).flatMap(([setting, names]) =>
      names.flatMap((name) => (known.includes(name) ? [] : [{ setting, kind, name, known }])),
    );
  });
  const seen = doubtful.length === 0 ? null : await readSeen(doubtful.map((field) => field.kind));
  for (const { setting, kind, name, known } of doubtful) {
    const names = [...known, ...(seen?.get(kind) ?? [])];
    if (names.includes(name)) continue;
    const guess = didYouMean(name, names);
    throw new UsageError(`${setting} has ${name}, which is not a field of ${kind}${guess}`, {
      code: 'settings.unknown_field',
      hint: listsFields(kind),
    });
  }
}

type Exclusions = Iterable<readonly [string, readonly string[]]>;

/** The excluded fields of each kind as `kind.field`. */
export const excludedPaths = (exclusions: Exclusions): readonly string[] =>
  [...exclusions].flatMap(([kind, names]) => names.map((name) => `${kind}.${name}`));

/**
 * Finds the fields that either the settings or the mirror exclude. Settings without a kind may be incomplete: to end an exclusion, list
 * its kind under `privacy.exclude` without the field.
 *
 * @param keptOut The fields that the mirror keeps out, by kind; null where there is no mirror yet.
 * @throws {UsageError} `settings.exclusions_missing`
 */
export function differingExclusions(config: Config, keptOut: Exclusions | null): readonly string[] {
  if (keptOut === null) return [];
  const { exclude } = config.privacy;
  const kinds = new Set(allKinds(config).map((kind) => kind.name));
  const kept = [...keptOut].filter(([kind]) => kinds.has(kind));
  const missing = kept.filter(([kind]) => !Object.hasOwn(exclude, kind));
  if (missing.length > 0) {
    const line = JSON.stringify({ ...exclude, ...Object.fromEntries(missing) });
    const clearedKinds = missing.map(([kind]) => `${kind}: []`).join(', ');
    const fields = excludedPaths(missing).join(', ');
    throw new UsageError(`The mirror excludes fields that these settings do not: ${fields}.`, {
      code: 'settings.exclusions_missing',
      hint:
        `Name the settings file (--config FILE, or BMS_CONFIG=FILE), or add BMS__PRIVACY__EXCLUDE='${line}'. ` +
        `To allow a field again, list its kind without it: privacy.exclude: {${clearedKinds}}.`,
    });
  }
  const wanted = excludedPaths(Object.entries(exclude).filter(([kind]) => kinds.has(kind)));
  const known = excludedPaths(kept);
  return [...wanted, ...known].filter((path) => wanted.includes(path) !== known.includes(path));
}

/**
 * The refusal of settings that exclude others than the mirror: only `serve`, `migrate` and `pull` take them over, while no other process
 * works by those of the mirror. It would send a field that is excluded now, and land none that is allowed again.
 *
 * @param atWork Describes such a process.
 */
export function exclusionsDiffer(fields: readonly string[], atWork?: string): UsageError {
  return new UsageError(`These settings and the mirror exclude different fields: ${fields.join(', ')}.`, {
    code: 'settings.exclusions_differ',
    hint:
      atWork === undefined
        ? 'Stop bms-sync serve if it is running, then take over these settings by bms-sync migrate, which removes what they exclude, or by bms-sync pull, which also fills what they allow again.'
        : `Stop what works by those of the mirror, then run this again: ${atWork}.`,
  });
}

/** @throws {UsageError} For a name that no kind has. */
export const requireKnownKind = (config: Config, name: string): Kind => findKind(allKinds(config), name);

/**
 * Finds the kinds that a person named; none named means all.
 *
 * @throws {UsageError} For an unknown kind, or a kind that the service does not list.
 */
export function requireListedKinds(config: Config, names: readonly string[] = []): readonly ListedKind[] {
  const kinds = allKinds(config);
  const listed = kinds.filter(isListed);
  const known = listed.map((kind) => kind.name).join(', ');
  const hint = `The kinds with a list are: ${known}. The setting kinds declares further ones: docs/further-kinds.md.`;
  if (names.length === 0) return listed;
  return [...new Set(names)].map((name) => {
    if (!kinds.some((kind) => kind.name === name && !isListed(kind))) return findKind(listed, name, { hint });
    const message = `The service has no list of ${name}: it is read one record at a time.`;
    throw new UsageError(message, { code: 'usage.kind', hint });
  });
}
