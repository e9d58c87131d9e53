import { isListed } from '../catalog/kind.ts';
import type { Kind } from '../catalog/kind.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';

/** @throws {SyncError} `record.unknown_kind` if a path names an unknown kind. */
export function requireKind(kinds: readonly Kind[], name: string): Kind {
  const kind = kinds.find((known) => known.name === name);
  if (kind !== undefined) return kind;
  throw new SyncError('There is no such record kind.', { code: 'record.unknown_kind', hint: listOf(kinds) });
}

/** @throws {UsageError} `usage.kind` if a query names an unknown kind. */
export function checkKind(kinds: readonly Kind[], name: string | undefined): void {
  if (name === undefined || kinds.some((known) => known.name === name)) return;
  throw new UsageError('There is no such record kind.', { code: 'usage.kind', hint: listOf(kinds) });
}

/**
 * The kinds of a pull, each once; none named means all that have a list.
 *
 * @throws {UsageError} `usage.kind` for an unknown kind, or a kind without a list.
 */
export function pulledKinds(kinds: readonly Kind[], names: readonly string[]): readonly string[] {
  const listed = kinds.filter(isListed);
  const wanted = names.length === 0 ? listed.map(({ name }) => name) : [...new Set(names)];
  const isWrong = wanted.some((name) => !listed.some((kind) => kind.name === name));
  if (!isWrong) return wanted;
  throw new UsageError('Not all of these are record kinds with a list.', {
    code: 'usage.kind',
    hint: listOf(listed),
  });
}

const listOf = (kinds: readonly Kind[]): string =>
  `The kinds are: ${kinds.map(({ name }) => name).join(', ')}.`;
