import type { RecordedChange } from './read-changes.ts';

/**
 * Writes an event as one line of JSON, under the names of the table's columns.
 *
 * The record's own JSON is inserted as stored: parsing it and writing it again could alter its numbers and the order
 * of its keys.
 */
export function changeLine(change: RecordedChange): string {
  const members: readonly [name: string, json: string][] = [
    ['seq', JSON.stringify(change.seq)],
    ['kind', JSON.stringify(change.kind)],
    ['record_id', JSON.stringify(change.recordId)],
    ['change', JSON.stringify(change.change)],
    ['observed_from', JSON.stringify(change.observedFrom)],
    ['observed_at', JSON.stringify(change.observedAt)],
    ['before', change.before ?? 'null'],
    ['after', change.after ?? 'null'],
    ['fields', change.fields],
    ['origin', JSON.stringify(change.origin)],
    ['run_id', JSON.stringify(change.runId)],
  ];
  return `{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`;
}
