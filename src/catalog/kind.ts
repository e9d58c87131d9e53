/** The types of the catalogue: a record kind is one value of type `Kind`, and everything else is derived from it. */

type PlainType = 'integer' | 'flag' | 'decimal' | 'date' | 'time' | 'timestamp' | 'text';

/** The members of a field; those below `refersTo` are each of one type only. */
interface FieldMembers {
  /** The service's exact name. */
  readonly name: string;
  /** The name in a write, if it differs from the name in a read. */
  readonly write?: { readonly name?: string; readonly as?: 'text' | 'HH:MM' };
  /** The kind whose records its values name; `type` is then the type that the service sends, not that of the column. */
  readonly refersTo?: string;

  /** Documented places of a decimal. */
  readonly scale?: number;

  /** The field of each part of a text such as `15,16`: the parts get a table of their own, as elements of an array do. */
  readonly part?: Field;
  /** The field whose misfits this column keeps as text. The column is ours; the service sends no such field. */
  readonly textOf?: string;

  /** Documented fields of the objects in a nested array. */
  readonly items?: readonly Field[];
  /** Undocumented fields of these objects that have become columns, in order of first sight. */
  readonly discoveredItems?: readonly Field[];
  /** The nested value is one object, as far as is known, so that it has no elements. */
  readonly isObject?: boolean;
  /** Undocumented fields of these objects that were seen in the wild. */
  readonly itemHints?: readonly Field[];
  /** The kind whose record the nested value is, as its id or as an object with its id; see `idColumn`. */
  readonly recordOf?: string;
}

/** A field of a record. */
export type Field = FieldMembers & ({ readonly type: PlainType } | { readonly type: 'json' });
export type FieldType = Field['type'];

/** The type of a field's column: a reference has that of an id, so that it can be joined with one. */
export const columnType = ({ type, refersTo }: Field): FieldType =>
  refersTo === undefined ? type : 'integer';

/** Our column with the id of the record that a nested value is. */
export const idColumnName = (name: string): string => `${name}_id`;

/** The three spellings of the authentication header (§5): the documentation uses all three. */
export const AUTH_HEADERS = ['Authentication', 'Authorization', 'Authentification'] as const;
export type AuthHeader = (typeof AUTH_HEADERS)[number];

interface Endpoint {
  /** Appended to the base URL; `:id` stands for the record's id. */
  readonly path: string;
  /** The spelling that the documentation shows for this operation. */
  readonly header: AuthHeader;
}

export interface ListEndpoint extends Endpoint {
  /** `documented`: `page` and `per_page` are parameters (§8). `by answer`: no parameters are documented; the response shows the paging. */
  readonly paging: (typeof PAGINGS)[number];
  readonly order: ListOrder;
}

export const PAGINGS = ['documented', 'by answer'] as const;
export const ORDERS = [
  'created, oldest first',
  'created, newest first',
  'code',
  'pickup date, newest first',
  'unknown',
] as const;
export type ListOrder = (typeof ORDERS)[number];

interface RetrieveEndpoint extends Endpoint {
  /** Set if the documented path addresses another kind: its answers prove nothing about this kind. */
  readonly misprint?: string;
}

interface WriteEndpoint extends Endpoint {
  /** Body fields that the documentation lists, by the names of a write. */
  readonly body: readonly string[];
}

/** The source of a table's columns: a kind, or the elements of a nested array. */
export interface Shape {
  /** The name used everywhere: table, view, command line, settings. */
  readonly name: string;
  /** Documented fields in the documentation's order, `id` first. */
  readonly fields: readonly Field[];
  /** Types of undocumented fields that were seen in the wild; they become columns only once the service sends them. */
  readonly hints: readonly Field[];
  /** Fields that the setting `privacy.exclude` keeps out: they are removed from every answer as soon as it is parsed. */
  readonly excluded?: readonly Field[];
  /** The names of fields that are no longer excluded, until a whole list has been read with them. */
  readonly allowedAgain?: readonly string[];
}

export interface Kind extends Shape {
  /** Null where the service lists no records of this kind. */
  readonly list: ListEndpoint | null;
  /** Null where no path is known that reads one record; only kinds of the settings lack it. */
  readonly retrieve: RetrieveEndpoint | null;
  readonly create: WriteEndpoint | null;
  readonly update: WriteEndpoint | null;
  /** The fields that identify a record to people; used to detect duplicates. */
  readonly naturalKey: readonly string[] | 'all sent fields';
  /** Fields whose values hardly two records share: one that is unchanged shows the same record, though its key has changed. */
  readonly witnesses?: readonly string[];
  /** The names of a record and the date of its creation: one that differs beside the key shows another record. */
  readonly describedBy?: readonly string[];
  /** Two records may be equal in every field and both intended: a create is never matched with an existing record. */
  readonly repeats?: true;
  /** A column of the view with the minutes between two times of a day; past midnight if the second is earlier. */
  readonly minutes?: { readonly from: string; readonly to: string };
  /** A service may lack the kind (`includeKinds`): until its list was read once, it is off where the service has none. */
  readonly isOptional?: true;
}

export type ListedKind = Kind & { readonly list: ListEndpoint };

export type RetrievableKind = Kind & { readonly retrieve: RetrieveEndpoint };

/** The fields of a kind that the service sends, documented or hinted. */
export function findSentField(shape: Shape, name: string): Field | undefined {
  const hasName = (field: Field): boolean => field.name === name && field.textOf === undefined;
  return shape.fields.find(hasName) ?? shape.hints.find(hasName);
}

export const isListed = (kind: Kind): kind is ListedKind => kind.list !== null;

/** Whether a single record can be retrieved. Also true for a misprinted path, which returns another kind's record. */
export const isRetrievable = (kind: Kind): kind is RetrievableKind => kind.retrieve !== null;

/** A kind whose records can be retrieved one by one; a path that answers another kind's records does not count. */
export function withUsableRetrieve(kind: Kind): RetrievableKind | null {
  return isRetrievable(kind) && kind.retrieve.misprint === undefined ? kind : null;
}
