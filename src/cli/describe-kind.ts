import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import type { KnownField } from '../store/kinds/field-store.ts';

/** The fields and operations that a record kind offers. */
export type KindDescription = ReturnType<typeof describeKind>;

/**
 * Describes a record kind: documented fields first, then fields that were seen elsewhere, then discovered ones.
 *
 * @param isDocumented Whether the catalogue has the kind; otherwise the settings declare it.
 * @param seen The fields that this mirror has seen, in order of first sight; null without a mirror.
 */
export function describeKind(
  kind: Kind,
  isDocumented: boolean,
  seen: ReadonlyMap<string, KnownField> | null,
) {
  const { name, list, retrieve, create, update, naturalKey, repeats, fields, hints } = kind;
  const isWritten = create !== null || update !== null;
  /** @param known `seen elsewhere`: at the live service, by the authors. */
  const describe = (field: Field, known: 'documented' | 'declared' | 'seen elsewhere') => {
    const { items } = field;
    const writeName = field.write?.name ?? field.name;
    return {
      ...typeOf(field),
      known,
      seen: seen && seen.has(field.name), // Null without a mirror.
      write: isWritten && field.name !== 'id' ? { name: writeName, form: formWords(field) } : null,
      shownInCreate: create !== null && create.body.includes(writeName), // In the documentation.
      items: items === undefined ? null : items.map(typeOf),
    };
  };
  const named = new Set([...fields, ...hints].map((field) => field.name));
  const discovered = [...(seen ?? [])].filter(([field]) => !named.has(field));
  return {
    kind: name,
    declaredBy: isDocumented ? 'documentation' : 'settings',
    list: list && { path: list.path, paging: list.paging, order: list.order },
    retrieve: retrieve && {
      path: retrieve.path,
      usable: retrieve.misprint === undefined, // False where the path answers another kind's records.
      note: retrieve.misprint ?? null,
    },
    /** The fields that the documentation shows in the body; it does not mark the required ones. */
    create: create && { path: create.path, shown: create.body },
    update: update && { path: update.path, shown: update.body },
    /** The fields that identify a duplicate; null = all sent fields. */
    naturalKey: naturalKey === 'all sent fields' ? null : naturalKey,
    /** Two records may be equal in every field and both be intended. */
    repeats: repeats === true,
    fields: [
      ...fields.map((field) => describe(field, isDocumented ? 'documented' : 'declared')),
      ...hints.map((field) => describe(field, 'seen elsewhere')),
      // By the values that it has shown: only this mirror knows it.
      ...discovered.map(([field, { type }]) => ({
        name: field,
        type,
        scale: null,
        meaning: type === 'none' ? 'unknown: only empty values were seen' : typeWords({ name: field, type }),
        refersTo: null,
        known: 'discovered' as const,
        seen: true,
        write: isWritten ? { name: field, form: 'as given' } : null,
        shownInCreate: false,
        items: null,
      })),
    ],
  };
}

/** A field, or one of the entries of a nested list: `scale`, its documented places; `refersTo`, the kind whose records its values name. */
function typeOf(field: Field) {
  const { name, type, scale = null, refersTo = null } = field;
  return { name, type, scale, meaning: typeWords(field), refersTo };
}

const WORDS: Record<FieldType, string> = {
  integer: 'whole number',
  flag: 'flag, 0 or 1',
  decimal: 'amount',
  date: 'date',
  time: 'time of day',
  timestamp: 'date and time',
  text: 'text',
  json: 'nested value',
};

/** The type of a field in words: `amount with 2 places`. */
function typeWords({ type, scale, items, refersTo }: Field): string {
  if (refersTo !== undefined) return `id of ${refersTo}`;
  if (type === 'decimal' && scale !== undefined) return `amount with ${scale} places`;
  return items === undefined ? WORDS[type] : 'list of entries';
}

const FORMS: Record<FieldType, string> = {
  integer: 'whole number',
  flag: '0 or 1',
  decimal: 'number, or text such as "10.50"',
  date: '"YYYY-MM-DD"',
  time: '"HH:MM" or "HH:MM:SS"',
  timestamp: '"YYYY-MM-DD HH:MM:SS"',
  text: 'text',
  json: 'array or object',
};

/** The form in which a value is written. */
function formWords({ type, write }: Field): string {
  if (write?.as === 'HH:MM') return '"HH:MM", without seconds';
  return write?.as === 'text' && type !== 'text' ? `${FORMS[type]}, sent as text` : FORMS[type];
}
