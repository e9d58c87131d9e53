import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import { compactJson } from '../lib/json/json.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { TriedEntry } from '../mirror/outbox/attempts-and-links.ts';
import { proofWords, readRecordStory, STORY_STATES } from '../mirror/records/record-story.ts';
import type { RecordStory } from '../mirror/records/record-story.ts';
import { explain } from '../outbound/decisions/verdicts.ts';
import { kindName, recordId, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { entryBadge } from './outbox-page.ts';
import {
  changeList,
  cut,
  objectIn,
  recordLink,
  recordName,
  valueText,
  verbatim,
} from './parts/change-list.ts';
import { counted, dataTable, exactly, html, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { factList, feed, nothing, pageTitle, panel } from './parts/layout.ts';
import { pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { addressOf } from './parts/paging.ts';

const CHANGES_SHOWN = 20;

/** Adds the page of a record: everything that the mirror knows of it. */
export function addRecordPage(app: Server, { session, kinds, clock }: Dashboard): void {
  const params = z.strictObject({ kind: kindName(kinds), id: recordId });
  const options = pageOptions('Show everything that is known of one record', { params });
  app.get('/records/:kind/:id', options, async ({ params: { kind: name, id } }, reply) => {
    const kind = requireKind(kinds, name);
    const after = await latestSeq(session);
    const story = await readRecordStory(session, kind, id);
    if (story === null)
      throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
        code: 'record.absent',
      });
    const changes = await latestChanges(session, { kind: kind.name, recordId: id, limit: CHANGES_SHOWN });
    const now = clock.now();
    const title = `${kind.name} ${id}`;
    const body = html`<div class="body">
      <p>The record is ${STORY_STATES[story.state]}.</p>
      ${stateFacts(story)}
    </div>`;
    const all = html`<a href="${addressOf('/changes', { kind: kind.name, record: id })}"
      >all ${story.events.length}</a
    >`;
    const note = story.events.length > changes.length ? all : null;
    const none = nothing('No change was seen since the mirror first read it.');
    const versions = changes.length === 0 ? none : changeList(changes, now);
    const content = html`${pageTitle(title, recordName(story.row?.raw ?? changes[0]?.before ?? null))}
      <div id="record" data-live>
        ${panel({ id: 'state', title: 'State' }, body)}
        <div class="columns">
          <div>${fieldPanel(story)}</div>
          <div>
            ${panel({ id: 'versions', title: 'Versions', note }, versions)} ${issuePanel(story)}
            ${entryPanel(story.entries, now)}
          </div>
        </div>
      </div>`;
    return sendPage(reply, { title, part: '/', content, after });
  });
}

function stateFacts({ state, row, absence, createdBy, refersTo }: RecordStory): Html {
  const deletedAt = row?.deletedAt ?? null;
  const proof = absence === null ? null : proofWords(absence);
  return factList([
    ['First seen (UTC)', row === null ? null : exactly(row.firstSeenAt)],
    ['Last changed', row === null ? null : exactly(row.changedAt)],
    [state === 'suppressed' ? 'Forgotten' : 'Deleted', deletedAt === null ? null : exactly(deletedAt)],
    [
      'Not in the list since',
      absence === null ? null : html`${exactly(absence.absentSince)}${proof === null ? '' : `; ${proof}`}`,
    ],
    [
      'Created by',
      createdBy === null ? null : html`<a href="/outbox/${createdBy}">entry ${createdBy} of the outbox</a>`,
    ],
    ...refersTo.map(({ field, kind, id }) => [field, recordLink(kind, id)] as const),
  ]);
}

const LONGEST_VALUE = 4_000;
const NULL = html`<span class="quiet">null</span>`;

function fieldPanel({ row }: RecordStory): Html {
  const rows = Object.entries(objectIn(row?.raw ?? null)).map(
    ([name, value]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${value === null ? NULL : verbatim(cut(valueText(value), LONGEST_VALUE))}</td>
      </tr>`,
  );
  const isGone = (row?.deletedAt ?? null) !== null;
  const note = isGone ? 'as the service sent them last' : 'as the service sent them';
  const table = dataTable('Fields of the record', ['field', 'value'], rows, 'words');
  return panel(
    { id: 'fields', title: 'Fields', note },
    rows.length === 0 ? nothing('There is no row.') : table,
  );
}

function issuePanel({ issues }: RecordStory): Html | null {
  if (issues.length === 0) return null;
  const items = issues.map(
    ({ field, code, detail, firstSeenAt, closedAt }) =>
      html`<li>
        <div class="head">
          <span class="state ${closedAt === null ? 'warn' : 'plain'}">${code}</span> <span>${field}</span>
          <span class="last quiet small">${exactly(firstSeenAt)}${closedAt === null ? '' : ', closed'}</span>
        </div>
        <p class="small quiet">${cut(detail ?? '', LONGEST_VALUE)}</p>
      </li>`,
  );
  return panel({ id: 'issues', title: 'Issues' }, feed(items));
}

function entryPanel(entries: readonly TriedEntry[], now: Date): Html | null {
  if (entries.length === 0) return null;
  const items = entries.map(
    ({ entry, attempts }) =>
      html`<li>
        <div class="head">
          ${entryBadge(entry.state)} <a href="/outbox/${entry.id}">${entry.operation}, entry ${entry.id}</a>
          <span class="last quiet small">${when(entry.updatedAt, now)}</span>
        </div>
        <p class="small">${explain(entry).meaning}</p>
        <p class="small quiet">
          ${attempts.length === 0 ? 'never sent' : `sent ${counted(attempts.length, 'time')}`}:
          <span class="code">${cut(compactJson(objectIn(entry.payload)), 200)}</span>
        </p>
      </li>`,
  );
  return panel({ id: 'entries', title: 'Outbox' }, feed(items));
}
