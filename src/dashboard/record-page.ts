import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import type { RecordedChange } from '../feed/read-changes.ts';
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
  recordAddress,
  recordName,
  valueText,
  verbatim,
} from './parts/change-list.ts';
import { exactly, html, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { addressOf } from './parts/paging.ts';

const CHANGES_SHOWN = 20;

/** Adds the page of a record. */
export function addRecordPage(app: Server, { session, kinds, clock }: Dashboard): void {
  const params = z.strictObject({ kind: kindName(kinds), id: recordId });
  const options = pageOptions('Show everything that is known of one record', { params });
  app.get('/records/:kind/:id', options, async ({ params: { kind: name, id } }, reply) => {
    const kind = requireKind(kinds, name);
    const after = await latestSeq(session);
    const story = await readRecordStory(session, kind, id);
    const title = `${kind.name} ${id}`;
    if (story === null)
      throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
        code: 'record.absent',
      });
    const changes = await latestChanges(session, { kind: kind.name, recordId: id, limit: CHANGES_SHOWN });
    return sendPage(reply, { title, part: '/', content: recordPage(story, changes, clock.now()), after });
  });
}

/** Everything that the mirror knows of one record; `changes` are its latest events. */
function recordPage(story: RecordStory, changes: readonly RecordedChange[], now: Date): Html {
  const { kind, id, row, createdBy } = story;
  return html`<div class="title">
      <h1>${kind} ${id}</h1>
      <p>${recordName(row?.raw ?? changes[0]?.before ?? null)}</p>
    </div>
    <div id="record" data-live>
      <section class="panel" aria-labelledby="state-title">
        <header><h2 id="state-title">State</h2></header>
        <div class="body">
          <p>The record is ${STORY_STATES[story.state]}.</p>
          <dl class="facts">
            ${row === null ? null : rowFacts(row, story.state)} ${absenceFacts(story)}
            ${
              createdBy === null
                ? null
                : html`<dt>Created by</dt>
                    <dd><a href="/outbox/${createdBy}">entry ${createdBy} of the outbox</a></dd>`
            }
            ${story.refersTo.map(
              ({ field, kind: other, id: otherId }) =>
                html`<dt>${field}</dt>
                  <dd><a href="${recordAddress(other, otherId)}">${other} ${otherId}</a></dd>`,
            )}
          </dl>
        </div>
      </section>
      <div class="columns">
        <div>${fieldPanel(story)}</div>
        <div>${versionPanel(story, changes, now)} ${issuePanel(story)} ${entryPanel(story.entries, now)}</div>
      </div>
    </div>`;
}

function rowFacts(
  { firstSeenAt, changedAt, deletedAt }: NonNullable<RecordStory['row']>,
  state: RecordStory['state'],
): Html {
  return html`<dt>First seen (UTC)</dt>
    <dd>${exactly(firstSeenAt)}</dd>
    <dt>Last changed</dt>
    <dd>${exactly(changedAt)}</dd>
    ${
      deletedAt === null
        ? null
        : html`<dt>${state === 'suppressed' ? 'Forgotten' : 'Deleted'}</dt>
            <dd>${exactly(deletedAt)}</dd>`
    }`;
}

function absenceFacts({ absence }: RecordStory): Html | null {
  if (absence === null) return null;
  const proof = proofWords(absence);
  return html`<dt>Not in the list since</dt>
    <dd>${exactly(absence.absentSince)}${proof === null ? '' : `; ${proof}`}</dd>`;
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
  return html`<section class="panel" aria-labelledby="fields-title">
    <header>
      <h2 id="fields-title">Fields</h2>
      <p>
        ${row === null || row.deletedAt === null ? 'as the service sent them' : 'as the service sent them last'}
      </p>
    </header>
    ${
      rows.length === 0
        ? html`<p class="none">There is no row.</p>`
        : html`<table>
            <caption class="unseen">
              Fields of the record
            </caption>
            <thead class="unseen">
              <tr>
                <th scope="col">field</th>
                <th scope="col">value</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>`
    }
  </section>`;
}

function versionPanel(
  { kind, id, events }: RecordStory,
  changes: readonly RecordedChange[],
  now: Date,
): Html {
  const all = html`<a href="${addressOf('/changes', { kind, record: id })}">all ${events.length}</a>`;
  return html`<section class="panel" aria-labelledby="versions-title">
    <header>
      <h2 id="versions-title">Versions</h2>
      <p>${events.length > changes.length ? all : null}</p>
    </header>
    ${
      changes.length === 0
        ? html`<p class="none">No change was seen since the mirror first read it.</p>`
        : changeList(changes, now)
    }
  </section>`;
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
  return feedPanel('issues', 'Issues', items);
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
          ${attempts.length === 0 ? 'never sent' : `sent ${attempts.length} time${attempts.length === 1 ? '' : 's'}`}:
          <span class="code">${cut(compactJson(objectIn(entry.payload)), 200)}</span>
        </p>
      </li>`,
  );
  return feedPanel('entries', 'Outbox', items);
}

const feedPanel = (id: string, title: string, items: readonly Html[]): Html =>
  html`<section class="panel" aria-labelledby="${id}-title">
    <header><h2 id="${id}-title">${title}</h2></header>
    <ol class="feed">
      ${items}
    </ol>
  </section>`;
