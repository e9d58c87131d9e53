import type { Field, Kind, ListOrder } from '../catalog/kind.ts';
import type { KnownField } from '../mirror/kinds/field-store.ts';
import { describeDiscovered, describeField } from './describe-field.ts';
import type { FieldDescription } from './describe-field.ts';

/** The fields and operations that a record kind offers. */
export interface KindDescription {
  readonly kind: string;
  readonly declaredBy: 'documentation' | 'settings';
  readonly list: {
    readonly path: string;
    readonly paging: 'documented' | 'by answer';
    readonly order: ListOrder;
  } | null;
  /** `usable` is false where the path answers another kind's records; `note` says which. */
  readonly retrieve: { readonly path: string; readonly usable: boolean; readonly note: string | null } | null;
  /** `shown` are the fields that the documentation shows in the body; which of them are required it does not say. */
  readonly create: { readonly path: string; readonly shown: readonly string[] } | null;
  readonly update: { readonly path: string; readonly shown: readonly string[] } | null;
  /** The fields by which two records are the same thing; null = all sent fields. */
  readonly naturalKey: readonly string[] | null;
  /** Two records may be equal in every field and both be intended. */
  readonly repeats: boolean;
  readonly fields: readonly FieldDescription[];
}

interface KindFacts {
  readonly kind: Kind;
  /** Whether the catalogue has the kind; otherwise the settings declare it. */
  readonly isDocumented: boolean;
  /** The fields that this mirror has seen, in order of first sight; null without a mirror. */
  readonly seen: ReadonlyMap<string, KnownField> | null;
}

/** Describes a record kind: documented fields first, then fields that were seen elsewhere, then discovered ones. */
export function describeKind({ kind, isDocumented, seen }: KindFacts): KindDescription {
  const { name, list, create, update, naturalKey, repeats, fields, hints } = kind;
  const isWritten = create !== null || update !== null;
  const shown = new Set(create?.body);
  const describe = (field: Field, known: FieldDescription['known']): FieldDescription =>
    describeField(field, { known, isWritten, shownInCreate: shown, seen });
  const named = new Set([...fields, ...hints].map((field) => field.name));
  const discovered = [...(seen ?? [])].filter(([field]) => !named.has(field));
  return {
    ...{ kind: name, declaredBy: isDocumented ? 'documentation' : 'settings' },
    list: list && { path: list.path, paging: list.paging, order: list.order },
    retrieve: retrieveOf(kind),
    create: create && { path: create.path, shown: create.body },
    update: update && { path: update.path, shown: update.body },
    naturalKey: naturalKey === 'all sent fields' ? null : naturalKey,
    repeats: repeats === true,
    fields: [
      ...fields.map((field) => describe(field, isDocumented ? 'documented' : 'declared')),
      ...hints.map((field) => describe(field, 'seen elsewhere')),
      ...discovered.map(([field, { type }]) => describeDiscovered(field, { type, isWritten })),
    ],
  };
}

function retrieveOf({ retrieve }: Kind): KindDescription['retrieve'] {
  if (retrieve === null) return null;
  const { path, misprint } = retrieve;
  return { path, usable: misprint === undefined, note: misprint ?? null };
}
