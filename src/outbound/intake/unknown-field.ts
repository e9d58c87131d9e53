import type { Field, Kind } from '../../catalog/kind.ts';
import { writeNameOf } from '../../diff/written.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';

/** Which fields a write may name. */
export interface NameRules {
  /** Names of fields that the service has ever sent of this kind. */
  readonly seen: ReadonlySet<string>;
  /** Other names are sent, too. */
  readonly allowsUnknown: boolean;
}

const ALLOWED = '(To send it all the same: --allow-unknown, or allowUnknown: true.)';

/** Why a field is refused that is neither documented nor was ever seen, with the name that may be meant. */
export function unknownField(
  { name: kind, fields, hints }: Kind,
  name: string,
  seen: NameRules['seen'],
): string {
  const guess = nearestName(name, [...[...fields, ...hints].flatMap(spellingsOf), ...seen].filter(isWritten));
  const unseen = seen.size > 0 ? 'nor was ever seen' : 'nor was seen: the mirror has not read this kind yet';
  const meant = guess === undefined ? '' : `; did you mean ${guess}?`;
  return `${kind} has no such field: it is neither documented ${unseen}${meant} ${ALLOWED}`;
}

const spellingsOf = (field: Field): readonly string[] => [writeNameOf(field), field.name];

const isWritten = (name: string): boolean => name !== 'id';
