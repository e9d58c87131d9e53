import { compactJson } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { jsonOrText } from '../../outbound/decisions/entry-list.ts';
import { explain } from '../../outbound/decisions/verdicts.ts';
import type { StoredEntry } from '../../outbound/intake/intake.ts';
import type { Preview, RequestShown } from '../../outbound/intake/preview.ts';
import { printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

type Updated = Extract<Preview, { readonly operation: 'update' }>;
type Conflicts = Extract<NonNullable<Updated['merge']>, { readonly is: 'conflict' }>['conflicts'];

export function previewDocument(preview: Preview): JsonObject {
  const { kind, operation, notes, request } = preview;
  const shared = { dryRun: true, operation, kind, notes, request: request && { ...request } };
  if (preview.operation === 'create')
    return { ...shared, alike: preview.alike.map(({ recordId, match }) => ({ recordId, match })) };
  const { recordId, merge } = preview;
  const conflicts = merge?.is === 'conflict' ? merge.conflicts : [];
  return {
    ...shared,
    recordId,
    against: 'mirror',
    merge: merge?.is ?? null,
    conflicts: conflicts.map(({ field, base, remote, wanted }) => ({ field, base, remote, wanted })),
  };
}

export function printPreview(stdout: Output, preview: Preview): void {
  for (const note of preview.notes) printLine(stdout, `Note: ${note}`);
  if (preview.operation === 'create') {
    printRequest(stdout, preview.request);
    printAlike(stdout, preview);
  } else printUpdate(stdout, preview);
  printLine(stdout, 'Nothing was stored or sent.');
}

function printRequest(stdout: Output, { method, path, body }: RequestShown): void {
  printLine(stdout, `${method} ${path}`);
  printLine(stdout, `${compactJson(body)}\n`);
}

function printAlike(stdout: Output, { alike }: Extract<Preview, { readonly operation: 'create' }>): void {
  if (alike.length === 0) printLine(stdout, 'The mirror has no record with its natural key.');
  else {
    printLine(stdout, 'The mirror has it already (a push is refused, but with --allow-double):');
    const rows = alike.map(({ recordId, match }) => [recordId, match]);
    printLine(stdout, textTable(['id', 'match'], rows));
    printLine(stdout);
  }
}

function printUpdate(stdout: Output, { recordId, kind, merge, request }: Updated): void {
  if (merge === null)
    printLine(stdout, `The mirror does not have record ${recordId} of ${kind}: nothing to compare with.`);
  else printLine(stdout, "Compared with the mirror's row; a send compares with what the service has then.");
  if (merge?.is === 'nothing') printLine(stdout, 'Nothing would be sent: the record is so already.');
  if (merge?.is === 'conflict') printConflicts(stdout, merge.conflicts);
  if (request !== null) printRequest(stdout, request);
}

function printConflicts(stdout: Output, conflicts: Conflicts): void {
  printLine(stdout, 'It would be parked: another user changed these fields since the base.');
  const rows = conflicts.map(({ field, base, remote, wanted }) => [
    field,
    ...[base, remote, wanted].map(compactJson),
  ]);
  printLine(stdout, textTable(['field', 'base', 'mirror', 'wanted'], rows));
  printLine(stdout);
}

/** An entry as it was stored and, with `--wait`, its outcome. */
interface Pushed {
  readonly entry: StoredEntry;
  readonly outcome: Entry | undefined;
}

export function pushedDocument({ entry, outcome }: Pushed): JsonObject {
  const { id, state, key, kind, operation, recordId, isNew, notes } = entry;
  const stored = { id, state, key, kind, operation, recordId, isNew, notes };
  if (outcome === undefined) return stored;
  const { verdict, result } = outcome;
  return {
    ...stored,
    state: outcome.state,
    recordId: outcome.recordId,
    verdict,
    meaning: explain({ ...entry, ...outcome }).meaning,
    result: jsonOrText(result),
  };
}

export function printPushed(stdout: Output, { entry, outcome }: Pushed): void {
  const { id, key, kind, operation, recordId, isNew, notes } = entry;
  const what = `${operation} ${kind}${recordId === null ? '' : ` ${recordId}`}`;
  const how = isNew ? 'queued' : `queued before, and ${entry.state} by now`;
  printLine(stdout, `Entry ${id}: ${what}, ${how}. Key: ${key}`);
  for (const note of notes) printLine(stdout, `  Note: ${note}`);
  if (outcome === undefined) return;
  const { meaning, next } = explain({ ...entry, ...outcome });
  const record = outcome.recordId === null ? '' : `, record ${outcome.recordId}`;
  printLine(stdout, `  It is ${outcome.state}${record}. ${meaning}`);
  if (outcome.result !== null) printLine(stdout, `  Result: ${outcome.result}`);
  for (const step of next) printLine(stdout, `  ${step}`);
}
