import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import type { Kind } from './kind.ts';

/** Where the fields of a kind stand, for whoever named an unknown one. @param kind By default any. */
export const listsFields = (kind = 'KIND'): string =>
  `bms-sync kinds ${kind} lists its fields; one that the documentation does not show is known once a pull has shown it.`;

/** Finds the kind of a name. @throws {UsageError} For an unknown one, with the nearest known name. */
export function findKind<Found extends Kind>(
  kinds: readonly Found[],
  name: string,
  { code = 'usage.kind', hint }: { readonly code?: string; readonly hint?: string } = {},
): Found {
  const kind = kinds.find((candidate) => candidate.name === name);
  if (kind !== undefined) return kind;
  const names = kinds.map((candidate) => candidate.name);
  const message = `Unknown record kind "${name}"${didYouMean(name, names) || '.'}`;
  throw new UsageError(message, { code, hint: hint ?? `The kinds are: ${names.join(', ')}.` });
}
