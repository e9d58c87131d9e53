import { isListed } from '../catalog/kind.ts';
import type { Kind } from '../catalog/kind.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';

const namesOf = (kinds: readonly Kind[]): readonly string[] => kinds.map(({ name }) => name);

const noSuchKind = (kinds: readonly Kind[], name: string): string =>
  `There is no such record kind${didYouMean(name, namesOf(kinds)) || '.'}`;

/** @throws {SyncError} `record.unknown_kind` if a path names an unknown kind. */
export function requireKind(kinds: readonly Kind[], name: string): Kind {
  const kind = kinds.find((known) => known.name === name);
  if (kind !== undefined) return kind;
  throw new SyncError(noSuchKind(kinds, name), { code: 'record.unknown_kind', hint: listOf(kinds) });
}

/** @throws {UsageError} `usage.kind` if a query names an unknown kind. */
export function checkKind(kinds: readonly Kind[], name: string | undefined): void {
  if (name === undefined || kinds.some((known) => known.name === name)) return;
  throw new UsageError(noSuchKind(kinds, name), { code: 'usage.kind', hint: listOf(kinds) });
}

/**
 * The kinds of a pull, each once; none named means all that have a list.
 *
 * @throws {UsageError} `usage.kind` for an unknown kind, or a kind without a list.
 */
export function pulledKinds(kinds: readonly Kind[], names: readonly string[]): readonly string[] {
  const listed = kinds.filter(isListed);
  const wanted = names.length === 0 ? namesOf(listed) : [...new Set(names)];
  const wrong = wanted.find((name) => !namesOf(listed).includes(name));
  if (wrong === undefined) return wanted;
  const meant = didYouMean(wrong, namesOf(listed)) || '.';
  throw new UsageError(`Not all of these are record kinds with a list${meant}`, {
    code: 'usage.kind',
    hint: listOf(listed),
  });
}

const listOf = (kinds: readonly Kind[]): string => `The kinds are: ${namesOf(kinds).join(', ')}.`;
