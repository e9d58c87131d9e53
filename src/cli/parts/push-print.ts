import { compactJson, plainJson, type JsonObject } from '../../lib/json/json.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { explain } from '../../words/verdicts.ts';
import type { StoredEntry } from '../../outbound/intake/intake.ts';
import type { Preview } from '../../outbound/intake/preview.ts';
import { textTable, type Printed } from './io.ts';

type PushedEntry = Extract<Preview, { readonly operation: 'create' }>;
type Updated = Extract<Preview, { readonly operation: 'update' }>;

export function previewDocument(preview: Preview): JsonObject {
  const { kind, operation, notes, request } = preview;
  const shared = { dryRun: true, operation, kind, notes, request };
  if (preview.operation === 'create') return { ...shared, alike: preview.alike };
  const { recordId, merge } = preview;
  const conflicts = merge?.is === 'conflict' ? merge.conflicts : [];
  return { ...shared, recordId, against: 'mirror', merge: merge?.is ?? null, conflicts };
}

export function* previewTexts(preview: Preview): Iterable<Printed> {
  for (const note of preview.notes) yield `Note: ${note}`;
  yield* preview.operation === 'create' ? createTexts(preview) : updateTexts(preview);
  yield 'Nothing was stored or sent.';
}

function* createTexts(entry: PushedEntry): Iterable<Printed> {
  yield* requestTexts(entry.request);
  if (entry.alike.length === 0) {
    yield 'The mirror has no record with its natural key.';
    return;
  }
  yield 'The mirror already has it (a push needs --allow-double):';
  const rows = entry.alike.map((alike) => [alike.recordId, alike.match]);
  yield textTable(['id', 'match'], rows);
  yield '';
}

function* updateTexts(updated: Updated): Iterable<Printed> {
  const { recordId, kind, merge, request } = updated;
  if (merge === null)
    yield `The mirror does not have record ${recordId} of ${kind}, so there is nothing to compare with.`;
  else yield "Compared with the mirror's row. The send compares with the service.";
  if (merge?.is === 'nothing') yield 'Nothing would be sent: the record already has these values.';
  if (merge?.is === 'conflict') {
    yield 'It would be parked: another user changed these fields since the base.';
    const rows = merge.conflicts.map((conflict) => [
      conflict.field,
      ...[conflict.base, conflict.remote, conflict.wanted].map(plainJson),
    ]);
    yield textTable(['field', 'base', 'mirror', 'wanted'], rows);
    yield '';
  }
  if (request !== null) yield* requestTexts(request);
}

function* requestTexts(shown: NonNullable<Preview['request']>): Iterable<Printed> {
  yield `${shown.method} ${shown.path}`;
  yield `${compactJson(shown.body)}\n`;
}

export function* pushedTexts(entry: StoredEntry, outcome: Entry | undefined): Iterable<Printed> {
  const { id, key, kind, operation, recordId, isNew, notes } = entry;
  const target = `${kind}${recordId === null ? '' : ` ${recordId}`}`;
  const state = isNew ? 'stored' : `stored before, now ${entry.state}`;
  yield `Entry ${id}: ${operation} ${target}, ${state}. Key: ${key}`;
  for (const note of notes) yield `  Note: ${note}`;
  if (outcome === undefined) return;
  const { meaning, next } = explain({ ...entry, ...outcome });
  const record = outcome.recordId === null ? '' : `, record ${outcome.recordId}`;
  yield `  It is ${outcome.state}${record}. ${meaning}`;
  if (outcome.result !== null) yield `  Result: ${outcome.result}`;
  for (const step of next) yield `  ${step}`;
}
