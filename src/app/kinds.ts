import { LISTED_KINDS, kindNamed } from '../catalog/catalog.ts';
import { isListed } from '../catalog/kind.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { UsageError } from '../lib/sync-error.ts';

/**
 * Finds the kinds that a person named; none named means all.
 *
 * @throws {UsageError} For a name that is no kind, or a kind that the service does not list.
 */
export function listedKinds(names: readonly string[]): readonly ListedKind[] {
  if (names.length === 0) return LISTED_KINDS;
  return [...new Set(names)].map((name) => {
    const kind = kindNamed(name);
    if (kind === undefined) {
      throw new UsageError(`There is no record kind "${name}".`, {
        code: 'usage.kind',
        hint: KINDS_WITH_A_LIST,
      });
    }
    if (isListed(kind)) return kind;
    throw new UsageError(`The service has no list of ${name}: it is read one record at a time.`, {
      code: 'usage.kind',
      hint: KINDS_WITH_A_LIST,
    });
  });
}

const KINDS_WITH_A_LIST = `The kinds with a list are: ${LISTED_KINDS.map(({ name }) => name).join(', ')}.`;
