import { sentField } from '../catalog/kind.ts';
import type { Field, Kind } from '../catalog/kind.ts';
import { isArray, isNumber, isObject } from '../lib/json.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { ownValue } from './decode-record.ts';
import { hasType, isBlank, normalForm } from './normal-form.ts';

/** A sent value and the service's value in its place; undefined if the service shows none. */
export interface SentAndShown {
  readonly sent: Json;
  readonly remote: Json | undefined;
}

/** The name by which a field is written. */
export const writeNameOf = (field: Field): string => field.write?.name ?? field.name;

/** The name by which a written field is read; a name that the kind does not know is itself. */
export function readNameOf(kind: Kind, writeName: string): string {
  const fields = [...kind.fields, ...kind.hints];
  return fields.find((field) => writeNameOf(field) === writeName)?.name ?? writeName;
}

/** A field that is documented or was seen in the wild, by the name by which it is read. */
export function fieldNamed(kind: Kind, name: string): Field | undefined {
  return sentField(kind, name);
}

/** A record's value of a field: under its name of a read or, as some copies do, under its name of a write. */
export function shownValue(kind: Kind, record: JsonObject, name: string): Json | undefined {
  const value = ownValue(record, name);
  const field = fieldNamed(kind, name);
  return value === undefined && field ? ownValue(record, writeNameOf(field)) : value;
}

/** Whether the service shows the sent value, under the field's normaliser; `name` is the name of a read. */
export function holdsWritten(kind: Kind, name: string, pair: SentAndShown): boolean {
  return holds(fieldNamed(kind, name), pair);
}

/** Whether two values are equal in a field of this type; without a type they are compared as JSON, a number also as its text. */
export function holds(field: Field | undefined, { sent, remote }: SentAndShown): boolean {
  if (remote === undefined || isBlank(field, remote)) return isBlank(field, sent);
  return isArray(sent)
    ? isArray(remote) && holdsArray(field?.items ?? [], sent, remote)
    : holdsValue(field, sent, remote);
}

function holdsValue(field: Field | undefined, sent: Json, remote: Json): boolean {
  if (normalForm(field, sent) === normalForm(field, remote)) return true;
  return !hasType(field) && (isTextOf(sent, remote) || isTextOf(remote, sent));
}

/** The service adds ids and further members to the elements of an array, so only the sent members must hold. */
function holdsArray(items: readonly Field[], sent: readonly Json[], remote: readonly Json[]): boolean {
  const holdsElement = (element: Json, there: Json | undefined): boolean => {
    if (!isObject(element) || !isObject(there)) return holds(undefined, { sent: element, remote: there });
    return Object.entries(element).every(([name, value]) =>
      holds(
        items.find((field) => field.name === name),
        { sent: value, remote: ownValue(there, name) },
      ),
    );
  };
  return sent.length === remote.length && sent.every((element, at) => holdsElement(element, remote[at]));
}

function isTextOf(text: Json, number: Json): boolean {
  return isNumber(number) && (text === String(number) || text === normalForm(undefined, number));
}
