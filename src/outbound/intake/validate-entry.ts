import { documentedKind } from '../../catalog/kinds/catalog.ts';
import type { Kind } from '../../catalog/kind.ts';
import { naturalKeyOf } from '../../diff/match.ts';
import { recordId } from '../../diff/compare-page.ts';
import {
  MAX_DEPTH,
  compactJson,
  isNestedDeeper,
  isObject,
  tryParseJson,
  type Json,
  type JsonObject,
} from '../../lib/json/json.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { SeenNames } from '../../store/kinds/field-store.ts';
import type { Entry, Operation } from '../../store/outbox/outbox-store.ts';
import { readBase, writeBody, type NameRules } from './write-body.ts';
import { valueForMessage } from './write-value.ts';

/** A create or an update as requested, not yet checked. */
export interface EntryDraft {
  readonly operation: Json | undefined;
  readonly kind: Json | undefined;
  /** Of the record to update. */
  readonly id?: Json | undefined;
  /** The fields to write, by the names of a write or of a read. */
  readonly data: Json | undefined;
  /** The state that the caller saw before an update. */
  readonly base?: Json | undefined;
  /** True: unknown fields (neither documented nor seen) are sent, too. */
  readonly allowUnknown?: Json | undefined;
  /** True: the record is made although another one has its natural key. */
  readonly allowDouble?: Json | undefined;
}

/** A create or an update that can be sent as it is. */
export interface ValidEntry {
  readonly operation: Operation;
  readonly kind: Kind;
  /** Appended to the base URL; `:id` stands for the record's id. */
  readonly path: string;
  /** Null for a create. */
  readonly recordId: string | null;
  /** A compact JSON object by the names of a write. */
  readonly payload: string;
  /** A compact JSON object by the names of a read; null if there is none. */
  readonly base: string | null;
  /** Null for an update. */
  readonly naturalKey: string | null;
  readonly allowsUnknown: boolean;
  readonly allowsDouble: boolean;
  readonly notes: readonly string[];
}

type Validation = { readonly ok: ValidEntry } | { readonly faults: readonly string[] };

const OPERATIONS: readonly Operation[] = ['create', 'update'];

/** Checks a create or an update against the catalogue and the fields that were ever seen; reports all faults at once. */
export function validateEntry(kinds: readonly Kind[], draft: EntryDraft, seen: SeenNames): Validation {
  const operation = OPERATIONS.find((known) => known === draft.operation);
  const kind = kinds.find((kind) => kind.name === draft.kind);
  const parts = {
    target: endpointOf(kinds, kind, operation, draft),
    id: operation ? idOf(operation, draft.id) : NOTHING,
    body: bodyOf(kind, draft.data, nameRules(kind, operation, draft, seen)),
    base: operation ? baseOf(operation, kind, draft.base) : NOTHING,
    choices: {
      faults: (['allowUnknown', 'allowDouble'] as const).flatMap((name) => {
        const choice = draft[name];
        if (choice === undefined || typeof choice === 'boolean') return [];
        return [`${name}: expected true or false, got ${valueForMessage(choice)}`];
      }),
    },
  };
  const faults = Object.values(parts).flatMap((part) => part.faults);
  if (faults.length > 0 || !kind || !operation) return { faults };
  const { target, id, body, base } = parts;
  const data = body.data ?? {};
  const ok = {
    operation,
    kind,
    path: target.path ?? '',
    recordId: id.id ?? null,
    payload: compactJson(data),
    base: base.data ? compactJson(base.data) : null,
    naturalKey: operation === 'create' ? naturalKeyOf(kind, data) : null,
    notes: body.notes ?? [],
    allowsUnknown: draft.allowUnknown === true,
    allowsDouble: draft.allowDouble === true,
  };
  return { ok };
}

interface PayloadPart {
  readonly faults: readonly string[];
  readonly path?: string;
  readonly id?: string;
  readonly data?: JsonObject;
  readonly notes?: readonly string[];
}

const NOTHING: PayloadPart = { faults: [] };
const NONE: ReadonlySet<string> = new Set();

/** A kind without this operation allows every name: the missing operation is the only fault to report. */
function nameRules(
  kind: Kind | undefined,
  operation: Operation | undefined,
  draft: EntryDraft,
  seen: SeenNames,
): NameRules {
  const isOffered = operation === undefined || kind?.[operation] !== null;
  return {
    seen: (kind && seen.get(kind.name)) ?? NONE,
    allowsUnknown: draft.allowUnknown === true || !isOffered,
  };
}

function endpointOf(
  kinds: readonly Kind[],
  kind: Kind | undefined,
  operation: Operation | undefined,
  draft: EntryDraft,
): PayloadPart {
  const faults = [
    ...(operation
      ? []
      : [`operation: expected create or update, got ${valueForMessage(draft.operation ?? null)}`]),
    ...(kind ? [] : [unknownKind(kinds, draft.kind ?? null)]),
  ];
  if (!kind || !operation) return { faults };
  const endpoint = kind[operation];
  if (endpoint) return { faults, path: endpoint.path };
  const reason = documentedKind(kind.name)
    ? `the service documents no ${operation} for it`
    : 'a kind of the settings is read, never written';
  return { faults: [`kind: ${kind.name} has no ${operation}: ${reason}`] };
}

function unknownKind(kinds: readonly Kind[], name: Json): string {
  const writable = kinds.filter((kind) => kind.create ?? kind.update).map((kind) => kind.name);
  const suggestion = typeof name === 'string' ? didYouMean(name, writable) : '';
  return `kind: there is no record kind ${valueForMessage(name)}${suggestion || '.'} Those that can be written are ${writable.join(', ')}`;
}

function idOf(operation: Operation, value: Json | undefined): PayloadPart {
  const isAbsent = value === undefined || value === null;
  if (operation === 'create')
    return isAbsent ? NOTHING : { faults: ['id: the service numbers a new record by itself'] };
  if (isAbsent) return { faults: ['id: an update needs the id of its record'] };
  const parsed = recordId({ id: value });
  if ('id' in parsed) return { faults: [], id: parsed.id };
  return {
    faults: [`id: expected a whole number from 1 to 9223372036854775807, got ${valueForMessage(value)}`],
  };
}

function bodyOf(kind: Kind | undefined, data: Json | undefined, rules: NameRules): PayloadPart {
  if (!isObject(data)) return { faults: [`data: expected a JSON object, got ${shownOrNone(data)}`] };
  if (Object.keys(data).length === 0) return { faults: ['data: no field to write'] };
  if (kind === undefined) return { faults: [], data };
  const { body, faults, notes } = writeBody(kind, data, rules);
  return { faults, notes, data: body };
}

function baseOf(operation: Operation, kind: Kind | undefined, base: Json | undefined): PayloadPart {
  if (base === undefined || base === null) return NOTHING;
  if (operation === 'create') return { faults: ['base: a create has no base'] };
  if (!isObject(base)) return { faults: [`base: expected a JSON object, got ${shownOrNone(base)}`] };
  if (isNestedDeeper(base, MAX_DEPTH)) return { faults: [`base: nested deeper than ${MAX_DEPTH} levels`] };
  if (kind === undefined) return NOTHING;
  const read = readBase(kind, base);
  return { faults: read.faults, data: read.base };
}

const shownOrNone = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : valueForMessage(value);

/** The fault of a key that only applying a plan gives: another entry with it would pass for the plan's own. */
export const planKeyFaults = (key: string): string[] =>
  /^plan:\d{1,15}:\d+$/.test(key) ? [`key: only a row of a plan has the key ${key}; choose another`] : [];

/** The columns of an outbox row that an application may have written by SQL. */
type StoredDraft = Pick<
  Entry,
  'operation' | 'kind' | 'recordId' | 'payload' | 'base' | 'allowsUnknown' | 'allowsDouble'
>;

/** Checks a row of the outbox as `validateEntry` checks a request: an application may have inserted it by SQL. */
export function validateStored(kinds: readonly Kind[], row: StoredDraft, seen: SeenNames): Validation {
  const { operation, kind, recordId, allowsUnknown: allowUnknown, allowsDouble: allowDouble } = row;
  const payload = jsonOf('payload', row.payload);
  const base = row.base === null ? { value: null } : jsonOf('base', row.base);
  if ('fault' in payload || 'fault' in base)
    return { faults: [payload, base].flatMap((part) => ('fault' in part ? [part.fault] : [])) };
  const draft = { operation, kind, id: recordId, data: payload.value, base: base.value };
  return validateEntry(kinds, { ...draft, allowUnknown, allowDouble }, seen);
}

function jsonOf(name: string, text: string): { readonly value: Json } | { readonly fault: string } {
  const value = tryParseJson(text);
  return value === undefined ? { fault: `${name}: expected the text of a JSON object` } : { value };
}
