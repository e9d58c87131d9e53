import { explain } from '../app/outbox.ts';
import type { Outcome, StoredEntry } from '../app/push.ts';
import type { JsonObject } from '../lib/json.ts';
import { jsonOrText } from '../app/outbox.ts';
import { printLine } from './io.ts';
import type { Output } from './io.ts';

/** An entry as it was stored and, with `--wait`, its outcome. */
interface Pushed {
  readonly entry: StoredEntry;
  readonly outcome: Outcome | undefined;
}

export function pushedDocument({ entry, outcome }: Pushed): JsonObject {
  const { id, state, key, kind, operation, recordId, isNew, notes } = entry;
  const stored = { id, state, key, kind, operation, recordId, isNew, notes };
  if (outcome === undefined) return stored;
  const { verdict, result } = outcome;
  return {
    ...{ ...stored, state: outcome.state, recordId: outcome.recordId, verdict },
    ...{ meaning: explain({ ...entry, ...outcome }).meaning, result: jsonOrText(result) },
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
