import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { TriedEntry } from '../store/outbox/attempts-and-links.ts';
import {
  MOST_REFERRED,
  proofWords,
  readRecordStory,
  STORY_STATES,
  type RecordStory,
} from '../store/records/record-story.ts';
import { jsonOrText } from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import { knownKindName, recordIdText, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { entryBadge } from './outbox-page.ts';
import { objectIn, recordName } from '../store/records/record-name.ts';
import { changeList, recordLink } from './parts/change-list.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { factList, feed, nothing, pageTitle, panel } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo } from './parts/paging.ts';
import { cut, membersText, breakableName, fieldRows, listPanels } from './parts/values.ts';

const CHANGES_SHOWN = 20;

/** Adds the page of a record: everything that the mirror knows of it. */
export function addRecordPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const params = z.strictObject({ kind: knownKindName(kinds), id: recordIdText });
  const page = { path: '/records/:kind/:id', summary: 'Show everything that is known of one record', params };
  addPage(app, dashboard, page, async ({ params: { kind: name, id }, reader }) => {
    const { say } = reader;
    const kind = requireKind(kinds, name);
    const story = await readRecordStory(session, kind, id);
    if (story === null)
      throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
        code: 'record.absent',
      });
    const changes = await latestChanges(session, { kind: kind.name, recordId: id, limit: CHANGES_SHOWN });
    const title = `${kind.name} ${id}`;
    const body = html`<div class="body">
      <p>${say('The record is {state}.', { state: say(STORY_STATES[story.state]) })}</p>
      ${stateFacts(story, reader)}
    </div>`;
    const all = html`<a href="${linkTo('/changes', { kind: kind.name, record: id })}"
      >${say('all {n, number}', { n: story.events.length })}</a
    >`;
    const note = story.events.length > changes.length ? all : null;
    const none = nothing(say('No change was seen since the mirror first read it.'));
    const versions = changes.length === 0 ? none : changeList(changes, reader, story.pushers, true);
    const called = recordName(story.row?.raw ?? changes[0]?.before ?? null);
    const content = html`${pageTitle(title, html`<span translate="no">${called}</span>`)}
      <div id="record" data-live>
        ${panel({ id: 'state', title: say('State') }, body)}
        <div class="columns">
          <div>${fieldPanel(kind.name, story, reader)} ${referredPanel(story, reader)}</div>
          <div>
            ${panel({ id: 'versions', title: say('Versions'), note }, versions)} ${issuePanel(story, reader)}
            ${entryPanel(story.entries, reader)}
          </div>
        </div>
        ${listPanels(reader, objectIn(story.row?.raw ?? null))}
      </div>`;
    return { title, part: '/kinds', content };
  });
}

function stateFacts(
  { state, row, absence, createdBy, refersTo }: RecordStory,
  { say, exactly }: Reader,
): Html {
  const deletedAt = row?.deletedAt ?? null;
  const proof = absence === null ? null : proofWords(absence);
  return factList([
    [say('First seen'), row === null ? null : exactly(row.firstSeenAt)],
    [say('Last changed'), row === null ? null : exactly(row.changedAt)],
    [say(state === 'suppressed' ? 'Forgotten' : 'Deleted'), deletedAt === null ? null : exactly(deletedAt)],
    [
      say('Not in the list since'),
      absence === null
        ? null
        : html`${exactly(absence.absentSince)}${proof === null ? '' : `; ${say(proof)}`}`,
    ],
    [
      say('Created by'),
      createdBy === null
        ? null
        : html`<a href="/outbox/${createdBy}">${say('entry {id} of the outbox', { id: createdBy })}</a>`,
    ],
    ...refersTo.map((reference) => [reference.field, recordLink(reference.kind, reference.id)] as const),
  ]);
}

const LONGEST_VALUE = 4_000;

function fieldPanel(kind: string, story: RecordStory, reader: Reader): Html {
  const { say } = reader;
  const rows = fieldRows(reader, kind, objectIn(story.row?.raw ?? null));
  const isGone = (story.row?.deletedAt ?? null) !== null;
  const note = say(isGone ? 'as the service sent them last' : 'as the service sent them');
  const table = dataTable(say('Fields of the record'), [say('field'), say('value')], rows, 'words');
  return panel(
    { id: 'fields', title: say('Fields'), note },
    rows.length === 0 ? nothing(say('There is no row.')) : table,
  );
}

/** The records that name this one, by kind and field. */
function referredPanel(story: RecordStory, reader: Reader): Html | null {
  if (story.referredBy.length === 0) return null;
  const groups = Map.groupBy(story.referredBy, (reference) =>
    reader.say('{kind} by {field}', { kind: reference.kind, field: reference.field }),
  );
  const facts = [...groups].map(([name, links]) => {
    const items = links.map((link) => html`${recordLink(link.kind, link.id)} `);
    return [
      name,
      html`${items}${links.length < MOST_REFERRED ? null : html`<span class="quiet">${reader.say('and more')}</span>`}`,
    ] as const;
  });
  return panel(
    { id: 'referred', title: reader.say('Named by') },
    html`<div class="body">${factList(facts)}</div>`,
  );
}

function issuePanel(story: RecordStory, reader: Reader): Html | null {
  if (story.issues.length === 0) return null;
  const { say, word, exactly } = reader;
  const items = story.issues.map(
    ({ field, code, detail, firstSeenAt, closedAt }) =>
      html`<li>
        <div class="head">
          <span class="state ${closedAt === null ? 'warn' : 'plain'}" title="${code}">${word(code)}</span>
          <span>${breakableName(field ?? '')}</span>
          <span class="last quiet small"
            >${exactly(firstSeenAt)}${closedAt === null ? '' : `, ${say('closed')}`}</span
          >
        </div>
        <p class="small quiet" translate="no">${cut(detail ?? '', LONGEST_VALUE)}</p>
      </li>`,
  );
  return panel({ id: 'issues', title: say('Issues') }, feed(items));
}

function entryPanel(entries: readonly TriedEntry[], reader: Reader): Html | null {
  if (entries.length === 0) return null;
  const { say, word, when } = reader;
  const items = entries.map(
    ({ entry, attempts }) =>
      html`<li>
        <div class="head">
          ${entryBadge(reader, entry.state)}
          <a href="/outbox/${entry.id}">${word(entry.operation)}, ${say('entry {id}', { id: entry.id })}</a>
          <span class="last quiet small">${when(entry.updatedAt)}</span>
        </div>
        <p class="small">${explain(entry, reader).meaning}</p>
        <p class="small quiet">
          ${say('{n, plural, =0 {never sent} one {sent # time} other {sent # times}}:', { n: attempts.length })}
          <span translate="no">${cut(membersText(jsonOrText(entry.payload)), 200)}</span>
        </p>
      </li>`,
  );
  return panel({ id: 'entries', title: say('Outbox') }, feed(items));
}
