import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import type { Kind } from '../catalog/kind.ts';
import { kindNamed } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { recordId } from '../diff/judge-page.ts';
import { compactJson, isObject } from '../lib/json/json.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { STORY_STATES, proofWords, readRecordStory } from '../mirror/records/record-story.ts';
import type { RecordStory } from '../mirror/records/record-story.ts';
import { entryDocument, jsonOrText } from '../outbound/decisions/entry-list.ts';
import { explain } from '../outbound/decisions/verdicts.ts';
import { changedFields } from './parts/change-row.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { beginning, printExactJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';

export function recordCommand(context: CommandContext): Command {
  return createCommand('record', "show one record's story: row, versions, issues, outbox entries, links")
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .action(async (kind: string, id: string, options: CommonOptions) => {
      const story = await recordStory(settingsOf(context, options), kind, id);
      if (options.json) printExactJson(context.io.stdout, storyDocument(story));
      else printStory(context.io.stdout, story);
    });
}

/**
 * Reads everything that the mirror knows of one record.
 *
 * @throws {UsageError} For an unknown kind, or an id that no record can have. @throws {SyncError} `record.absent` where the
 * mirror has no trace of it.
 */
async function recordStory(config: Config, kindName: string, id: string): Promise<RecordStory> {
  const kind = kindOfRecord(config, { kind: kindName, id, command: 'record' });
  await using session = await openExistingMirror(config);
  const story = await readRecordStory(session, kind, id);
  if (story !== null) return story;
  throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
    code: 'record.absent',
    hint: `If the service has it: bms-sync ${kind.retrieve === null ? `pull ${kind.name}` : `backfill ${kind.name} --ids ${id}`}`,
  });
}

interface NamedRecord {
  readonly kind: string;
  readonly id: string;
  /** The command that names the record, for its advice. */
  readonly command: string;
}

/**
 * The kind of a record that can exist.
 *
 * @throws {UsageError} For an unknown kind, or an id that no record can have.
 */
export function kindOfRecord(config: Config, { kind: name, id, command }: NamedRecord): Kind {
  const kind = kindNamed(config, name);
  if (!('fault' in recordId({ id }))) return kind;
  throw new UsageError(
    `"${id}" is no id of a record: expected a whole number from 1 to 9223372036854775807.`,
    { code: 'usage.record', hint: `For example: bms-sync ${command} ${kind.name} 17` },
  );
}

/** A record's story as programs see it. */
function storyDocument(story: RecordStory): JsonObject {
  const { kind, id, state, row, absence, events, issues, entries, endedEntries, createdBy, refersTo } = story;
  return {
    kind,
    id,
    state,
    firstSeenAt: row?.firstSeenAt ?? null,
    changedAt: row?.changedAt ?? null,
    deletedAt: row?.deletedAt ?? null,
    absence: absence && { ...absence },
    record: jsonOrText(row?.raw ?? null),
    versions: events.map((event) => ({ ...event, fields: jsonOrText(event.fields) })),
    issues: issues.map((issue) => ({ ...issue })),
    entries: entries.map(({ entry, attempts }) => ({
      ...entryDocument(entry),
      history: attempts.map((attempt) => ({ ...attempt })),
    })),
    endedEntries: endedEntries.map(({ id: entry, operation, state: end, updatedAt }) => ({
      id: entry,
      operation,
      state: end,
      endedAt: updatedAt,
    })),
    links: { createdBy, refersTo: refersTo.map((reference) => ({ ...reference })) },
  };
}

/** Prints a record's story for a person. */
function printStory(stdout: Output, story: RecordStory): void {
  const { kind, id, state, row, absence, createdBy, refersTo } = story;
  const proof = proofWords(absence);
  printLine(stdout, `Record ${id} of ${kind} is ${STORY_STATES[state]}.`);
  if (row !== null) printLine(stdout, `First seen ${row.firstSeenAt}, last changed ${row.changedAt} (UTC).`);
  const ended = state === 'suppressed' ? 'Forgotten' : 'Deleted';
  if (row?.deletedAt)
    printLine(stdout, `${ended} ${row.deletedAt} UTC${proof === null ? '' : `: ${proof}`}.`);
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
    firstSeenAt,
    closedAt ?? 'open',
    field,
    code,
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
