import { KINDS } from '../catalog/catalog.ts';
import { isListed } from '../catalog/kind.ts';
import type { Kind, ListedKind } from '../catalog/kind.ts';
import { configuredKinds } from '../config/configured-kinds.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';

/** Every record kind of this mirror: the catalogue's, then those of the settings. */
export function allKinds(config: Config): readonly Kind[] {
  return [...KINDS, ...configuredKinds(config.kinds)];
}

/**
 * Finds a kind by the name that a person gave.
 *
 * @throws {UsageError} For an unknown kind.
 */
export function kindNamed(config: Config, name: string): Kind {
  const kinds = allKinds(config);
  const kind = kinds.find((candidate) => candidate.name === name);
  if (kind !== undefined) return kind;
  const known = kinds.map((candidate) => candidate.name);
  throw new UsageError(`There is no record kind "${name}"${didYouMean(name, known)}`, {
    code: 'usage.kind',
    hint: `The kinds are: ${known.join(', ')}.`,
  });
}

/**
 * Finds the kinds that a person named; none named means all.
 *
 * @throws {UsageError} For an unknown kind, or a kind that the service does not list.
 */
export function listedKinds(config: Config, names: readonly string[] = []): readonly ListedKind[] {
  const kinds = allKinds(config);
  const listed = kinds.filter(isListed);
  if (names.length === 0) return listed;
  const hint =
    `The kinds with a list are: ${listed.map(({ name }) => name).join(', ')}. ` +
    'The setting kinds declares further ones: docs/further-kinds.md.';
  return [...new Set(names)].map((name) => {
    const kind = kinds.find((candidate) => candidate.name === name);
    if (kind !== undefined && isListed(kind)) return kind;
    const message =
      kind === undefined
        ? `There is no record kind "${name}".`
        : `The service has no list of ${name}: it is read one record at a time.`;
    throw new UsageError(message, { code: 'usage.kind', hint });
  });
}
