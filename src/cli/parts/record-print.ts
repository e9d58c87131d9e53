import { entryDocument, explain, jsonOrText } from '../../app/commands/outbox.ts';
import { proofWords, STORY_STATES } from '../../app/commands/show.ts';
import type { RecordStory } from '../../app/commands/show.ts';
import { compactJson, isObject } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { changedFields } from './change-row.ts';
import { beginning, printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

/** A record's story as programs see it. */
export function storyDocument(story: RecordStory): JsonObject {
  const { kind, id, state, row, absence, events, issues, entries, endedEntries, createdBy, refersTo } = story;
  return {
    ...{ kind, id, state, firstSeenAt: row?.firstSeenAt ?? null, changedAt: row?.changedAt ?? null },
    ...{ deletedAt: row?.deletedAt ?? null, absence: absence && { ...absence } },
    record: jsonOrText(row?.raw ?? null),
    versions: events.map((event) => ({ ...event, fields: jsonOrText(event.fields) })),
    issues: issues.map((issue) => ({ ...issue })),
    entries: entries.map(({ entry, attempts }) => ({
      ...entryDocument(entry),
      history: attempts.map((attempt) => ({ ...attempt })),
    })),
    endedEntries: endedEntries.map(({ id: entry, operation, state: end, updatedAt }) => ({
      ...{ id: entry, operation, state: end, endedAt: updatedAt },
    })),
    links: { createdBy, refersTo: refersTo.map((reference) => ({ ...reference })) },
  };
}

/** Prints a record's story for a person. */
export function printStory(stdout: Output, story: RecordStory): void {
  const { kind, id, state, row, absence, createdBy, refersTo } = story;
  const proof = proofWords(absence);
  printLine(stdout, `Record ${id} of ${kind} is ${STORY_STATES[state]}.`);
  if (row !== null) printLine(stdout, `First seen ${row.firstSeenAt}, last changed ${row.changedAt} (UTC).`);
  if (row?.deletedAt) printLine(stdout, `Deleted ${row.deletedAt} UTC${proof === null ? '' : `: ${proof}`}.`);
  else if (absence !== null) printLine(stdout, `Not in the list since ${absence.absentSince} UTC.`);
  if (createdBy !== null) printLine(stdout, `Entry ${createdBy} of the outbox created it.`);
  printRow(stdout, story);
  printVersions(stdout, story);
  printIssues(stdout, story);
  printEntries(stdout, story);
  if (refersTo.length === 0) return;
  printLine(stdout, '\nRefers to:');
  for (const link of refersTo) printLine(stdout, `  ${link.field}: bms-sync record ${link.kind} ${link.id}`);
}

const LONGEST_VALUE = 60;

function printRow(stdout: Output, { row }: RecordStory): void {
  const record = jsonOrText(row?.raw ?? null);
  if (!isObject(record)) return;
  const rows = Object.entries(record).map(([name, value]) => [
    name,
    beginning(compactJson(value), LONGEST_VALUE),
  ]);
  printLine(stdout);
  printLine(stdout, textTable(['field', row?.deletedAt ? 'last value' : 'value'], rows));
}

function printVersions(stdout: Output, { events }: RecordStory): void {
  if (events.length === 0) {
    printLine(stdout, '\nNo change was seen since the mirror first read it.');
    return;
  }
  printLine(stdout, '\nVersions:');
  for (const { seq, change, observedAt, origin, fields } of events) {
    printLine(stdout, `  ${observedAt} UTC  ${change} by ${originWords(origin)} (event ${seq})`);
    for (const changed of changedFields(fields, LONGEST_VALUE)) printLine(stdout, `    ${changed}`);
  }
}

function originWords(origin: string): string {
  return origin.startsWith('outbox:') ? `our entry ${origin.slice('outbox:'.length)}` : 'the service';
}

function printIssues(stdout: Output, { issues }: RecordStory): void {
  if (issues.length === 0) return;
  const rows = issues.map(({ firstSeenAt, closedAt, field, code, detail }) => [
    ...[firstSeenAt, closedAt ?? 'open', field, code],
    beginning(detail ?? '', LONGEST_VALUE),
  ]);
  printLine(stdout, '\nIssues:');
  printLine(stdout, textTable(['seen (UTC)', 'closed (UTC)', 'field', 'code', 'detail'], rows));
}

function printEntries(stdout: Output, { entries, endedEntries }: RecordStory): void {
  if (entries.length + endedEntries.length > 0) printLine(stdout, '\nOutbox:');
  for (const { id, operation, state, updatedAt } of endedEntries)
    printLine(stdout, `  Entry ${id}: ${operation}, ${state} on ${updatedAt} UTC; only its key is kept.`);
  for (const { entry, attempts } of entries) {
    const { id, operation, state, payload } = entry;
    printLine(stdout, `  Entry ${id}: ${operation}, ${state}. ${explain(entry).meaning}`);
    printLine(stdout, `    ${beginning(payload, LONGEST_VALUE)}`);
    for (const { n, openedAt, grade, status } of attempts)
      printLine(
        stdout,
        `    Try ${n}, ${openedAt} UTC: ${grade ?? 'not answered yet'}${status === null ? '' : `, status ${status}`}`,
      );
  }
}
