import type { Command } from 'commander';
import * as z from 'zod';
import type { Kind } from '../catalog/kind.ts';
import { requireKnownKind } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { isRecordId } from '../diff/compare-page.ts';
import { documentOf, instant } from '../lib/json/document.ts';
import { compactJson, isObject } from '../lib/json/json.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { entryOf } from '../store/outbox/outbox-store.ts';
import { NOT_FOUND, findRecords } from '../store/records/find-records.ts';
import { recordName } from '../store/records/record-name.ts';
import { STORY_STATES, noEventWords, proofWords, type RecordStory } from '../store/records/record-story.ts';
import { entryDocument, shownEntry } from '../outbound/decisions/entry-document.ts';
import { jsonOrText, readShownStory } from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import { changedFieldTexts } from './parts/change-row.ts';
import { createCommand, type CommandContext } from './parts/command.ts';
import { takeFirst, truncateText, textTable, utc, type Printed } from './parts/io.ts';
import { readingCommand, type Printout, type OpenMirror } from './parts/operation-command.ts';

export function recordCommand(context: CommandContext): Command {
  const command = createCommand('record')
    .argument('<kind>', 'record kind')
    .argument(
      '<id or text...>',
      'id of the record, or words of its code, name, phone number or e-mail to search for',
    );
  const read = async (mirror: OpenMirror, name: string, words: string[]): Promise<Printout> => {
    const { session, config, parts } = mirror;
    const kind = requireKnownKind(config, name);
    const wanted = words.join(' ');
    const story = isRecordId(wanted) ? await readShownStory(parts, kind, wanted) : null;
    if (story !== null) return [documentOf(shownStory, storyDocument(story)), storyTexts(story)];
    const found = await findRecords(session, kind, { text: wanted, limit: MAX_FOUND + 1 });
    const hits = takeFirst(found, MAX_FOUND, context.io, { cure: 'add a word' });
    if (hits.length === 0) throw recordAbsent(kind, wanted);
    const records = hits.map(({ id, deletedAt, raw }) => ({ id, deletedAt, record: jsonOrText(raw) }));
    const rows = hits.map(({ id, deletedAt, raw }) => {
      return [id, deletedAt === null ? 'live' : 'deleted', recordName(raw)];
    });
    return [documentOf(hitList, { records }), [textTable(['id', 'state', 'name'], rows)]];
  };
  return readingCommand(context, command, read, ({ config }, name: string) => requireKnownKind(config, name));
}

const MAX_FOUND = 100;

function recordAbsent(kind: Kind, wanted: string): SyncError {
  const { name, retrieve } = kind;
  const code = 'record.absent';
  if (!isRecordId(wanted)) return new SyncError(`${name} "${wanted}": ${NOT_FOUND}`, { code });
  const read = retrieve === null ? `pull ${name}` : `backfill ${name} --ids ${wanted}`;
  const message = `The mirror has no trace of record ${wanted} of ${name}.`;
  return new SyncError(message, { code, hint: `If the service has it: bms-sync ${read}` });
}

/** The kind of a record that `command` names. @throws {UsageError} For an unknown kind, or an id that no record can have. */
export function kindOfRecord(config: Config, name: string, id: string, command: string): Kind {
  const kind = requireKnownKind(config, name);
  if (isRecordId(id)) return kind;
  throw new UsageError(
    `"${id}" is not the id of a record: expected a whole number from 1 to 9223372036854775807.`,
    { code: 'usage.record', hint: `For example: bms-sync ${command} ${kind.name} 17` },
  );
}

const hitList = z.object({ records: z.array(z.looseObject({ deletedAt: instant.nullable() })) });

/** Where the document of a story has instants. */
const shownStory = z.looseObject({
  firstSeenAt: instant.nullable(),
  changedAt: instant.nullable(),
  deletedAt: instant.nullable(),
  absence: z
    .looseObject({ absentSince: instant, lastSeenAt: instant.nullable(), concludedAt: instant.nullable() })
    .nullable(),
  versions: z.array(z.looseObject({ observedFrom: instant.nullable(), observedAt: instant })),
  issues: z.array(z.looseObject({ firstSeenAt: instant, closedAt: instant.nullable() })),
  entries: z.array(z.looseObject({ history: shownEntry.shape.history })),
  endedEntries: z.array(z.looseObject({ endedAt: instant })),
});

function storyDocument(story: RecordStory) {
  const { row, events, pushers, entries, endedEntries, createdBy, refersTo, referredBy } = story;
  return {
    kind: story.kind,
    id: story.id,
    state: story.state,
    firstSeenAt: row?.firstSeenAt ?? null,
    changedAt: row?.changedAt ?? null,
    deletedAt: row?.deletedAt ?? null,
    absence: story.absence,
    record: jsonOrText(row?.raw ?? null),
    versions: events.map((event) => {
      return { ...event, fields: jsonOrText(event.fields), pushedBy: pushers.get(event.origin) ?? null };
    }),
    issues: story.issues,
    entries: entries.map((tried) => ({ ...entryDocument(tried.entry), history: tried.attempts })),
    endedEntries: endedEntries.map((entry) => {
      return { id: entry.id, operation: entry.operation, state: entry.state, endedAt: entry.updatedAt };
    }),
    links: { createdBy, refersTo, referredBy },
  };
}

function* storyTexts(story: RecordStory): Iterable<Printed> {
  const { kind, id, state, row, absence, createdBy, refersTo, referredBy } = story;
  const proof = proofWords(absence);
  yield `Record ${id} of ${kind} is ${STORY_STATES[state]}.`;
  if (row !== null) yield `First seen ${utc(row.firstSeenAt)}, last changed ${utc(row.changedAt)}.`;
  const ended = state === 'suppressed' ? 'Forgotten' : 'Deleted';
  if (row?.deletedAt) yield `${ended} ${utc(row.deletedAt)}${proof === null ? '' : `: ${proof}`}.`;
  else if (absence !== null) yield `Not in the list since ${utc(absence.absentSince)}.`;
  if (createdBy !== null) yield `Entry ${createdBy} of the outbox created it.`;
  yield* rowTexts(story);
  yield* versionTexts(story);
  yield* issueTexts(story);
  yield* entryTexts(story);
  if (refersTo.length > 0) yield '\nRefers to:';
  for (const link of refersTo) yield `  ${link.field}: bms-sync record ${link.kind} ${link.id}`;
  if (referredBy.length > 0) yield '\nReferenced by:';
  for (const link of referredBy)
    yield `  ${link.field} of ${link.kind}: bms-sync record ${link.kind} ${link.id}`;
}

const LONGEST_VALUE = 60;

function* rowTexts(story: RecordStory): Iterable<Printed> {
  const record = jsonOrText(story.row?.raw ?? null);
  if (!isObject(record)) return;
  const members = Object.entries(record);
  const rows = members.map(([name, value]) => [name, truncateText(compactJson(value), LONGEST_VALUE)]);
  yield '';
  yield textTable(['field', story.row?.deletedAt ? 'last value' : 'value'], rows);
}

function* versionTexts(story: RecordStory): Iterable<Printed> {
  yield `\n${story.events.length === 0 ? noEventWords(story.row) : 'Versions:'}`;
  for (const { seq, change, observedAt, observedFrom, origin, fields } of story.events) {
    const entry = entryOf(origin);
    const pushedBy = story.pushers.get(origin);
    const since = observedFrom === null ? '' : `, after ${utc(observedFrom)}`;
    const pusher = pushedBy === undefined ? '' : ` of ${pushedBy}`;
    const by = entry === null ? `in the service${since}` : `by entry ${entry}${pusher}`;
    yield `  ${utc(observedAt)}  ${change} ${by} (event ${seq})`;
    for (const changed of change === 'updated' ? changedFieldTexts(fields, LONGEST_VALUE) : [])
      yield `    ${changed}`;
  }
}

function* issueTexts(story: RecordStory): Iterable<Printed> {
  if (story.issues.length === 0) return;
  const rows = story.issues.map((issue) => {
    const { firstSeenAt, closedAt, field, code, detail } = issue;
    return [firstSeenAt, closedAt ?? 'open', field, code, truncateText(detail ?? '', LONGEST_VALUE)];
  });
  yield '\nIssues:';
  yield textTable(['seen (UTC)', 'closed (UTC)', 'field', 'code', 'detail'], rows);
}

function* entryTexts(story: RecordStory): Iterable<Printed> {
  const { entries, endedEntries } = story;
  if (entries.length + endedEntries.length > 0) yield '\nOutbox:';
  for (const { id, operation, state, updatedAt } of endedEntries)
    yield `  Entry ${id}: ${operation}, ${state} on ${utc(updatedAt)}; only its key is kept.`;
  for (const { entry, attempts } of entries) {
    const { id, operation, state, payload } = entry;
    yield `  Entry ${id}: ${operation}, ${state}. ${explain(entry).meaning}`;
    yield `    ${truncateText(payload, LONGEST_VALUE)}`;
    for (const { n, openedAt, grade, status } of attempts) {
      const end = `${grade ?? 'not answered yet'}${status === null ? '' : `, status ${status}`}`;
      yield `    Attempt ${n}, ${utc(openedAt)}: ${end}`;
    }
  }
}
