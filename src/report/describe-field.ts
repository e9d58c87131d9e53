import type { Field } from '../catalog/kind.ts';
import type { KnownField } from '../mirror/kinds/field-store.ts';
import { formWords, typeWords } from './field-words.ts';

/** The facts about a field, and how it is written. */
export interface FieldDescription {
  /** The name of a read. */
  readonly name: string;
  /** A type of the catalogue; `none` where only empty values were seen. */
  readonly type: KnownField['type'] | Field['type'];
  /** Documented decimal places. */
  readonly scale: number | null;
  /** The type in words: `amount with 2 places`. */
  readonly meaning: string;
  /** The kind whose records its values name. */
  readonly refersTo: string | null;
  /** `seen elsewhere`: at the live service, by the authors; `discovered`: by this mirror. */
  readonly known: 'documented' | 'declared' | 'seen elsewhere' | 'discovered';
  /** Whether the service has sent it to this mirror; null without a mirror. */
  readonly seen: boolean | null;
  /** The name and the form of a write; null where it cannot be written. */
  readonly write: { readonly name: string; readonly form: string } | null;
  /** Whether the documentation shows it in the body of a create. */
  readonly shownInCreate: boolean;
  /** Fields of the entries of a nested list, where they are known. */
  readonly items: readonly ItemDescription[] | null;
}

type ItemDescription = Pick<FieldDescription, 'name' | 'type' | 'scale' | 'meaning' | 'refersTo'>;

interface FieldFacts extends Pick<FieldDescription, 'known'> {
  /** Whether records of the kind can be written. */
  readonly isWritten: boolean;
  /** Names of a write. */
  readonly shownInCreate: ReadonlySet<string>;
  readonly seen: ReadonlyMap<string, unknown> | null;
}

/** Describes a field of the catalogue or of the settings. */
export function describeField(
  field: Field,
  { known, isWritten, shownInCreate, seen }: FieldFacts,
): FieldDescription {
  const writeName = field.write?.name ?? field.name;
  const { items } = field;
  return {
    ...typeOf(field),
    ...{ known, seen: seen && seen.has(field.name) },
    write: isWritten && field.name !== 'id' ? { name: writeName, form: formWords(field) } : null,
    shownInCreate: shownInCreate.has(writeName),
    items: items === undefined ? null : items.map(typeOf),
  };
}

function typeOf(field: Field): ItemDescription {
  const { name, type, scale = null, refersTo = null } = field;
  return { name, type, scale, meaning: typeWords(field), refersTo };
}

/** Describes a field that only this mirror knows, by the values that it has shown. */
export function describeDiscovered(
  name: string,
  { type, isWritten }: Pick<FieldFacts, 'isWritten'> & Pick<KnownField, 'type'>,
): FieldDescription {
  const words = type === 'none' ? 'unknown: only empty values were seen' : typeWords({ name, type });
  return {
    ...{ name, type, scale: null, meaning: words, refersTo: null, known: 'discovered', seen: true },
    ...{ write: isWritten ? { name, form: 'as given' } : null, shownInCreate: false, items: null },
  };
}
