import * as z from 'zod';
import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import { readLatestChanges } from '../events/read-changes.ts';
import { SyncError } from '../lib/sync-error.ts';
import { capitalize } from '../lib/text/text.ts';
import type { EntryWithAttempts } from '../store/outbox/attempts-and-links.ts';
import {
  MOST_REFERRED,
  noEventWords,
  proofWords,
  STORY_STATES,
  type RecordStory,
} from '../store/records/record-story.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { readShownStory } from '../outbound/decisions/entry-list.ts';
import { payloadText } from './outbox-page.ts';
import { explain } from '../words/verdicts.ts';
import { knownKindName, recordIdText, requireKind } from '../operations/inputs.ts';
import { parseObjectText, recordName } from '../store/records/record-name.ts';
import { changeList, recordLink } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import { pageSteps } from './parts/english.ts';
import { badge, emptyNote, factList, feedItem, itemList, link, panel, titled } from './parts/layout.ts';
import { pageAt, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo } from './parts/paging.ts';
import { ellipsize, fieldsTable, groupFields, labelledField, listPanels } from './parts/values.ts';

const CHANGES_SHOWN = 20;

const routeOf = ({ kinds }: Dashboard) => ({
  path: '/records/:kind/:id',
  summary: 'Show everything that is known of one record',
  params: z.strictObject({ kind: knownKindName(kinds), id: recordIdText }),
});

export const addRecordPage = pageAt(routeOf, async (dashboard, { params: { kind: name, id }, reader }) => {
  const { session, kinds } = dashboard;
  const { t } = reader;
  const kind = requireKind(kinds, name);
  const story = await readShownStory(dashboard, kind, id);
  if (story === null)
    throw new SyncError(`The mirror has no trace of record ${id} of ${kind.name}.`, {
      code: 'record.absent',
    });
  const linked = [...story.refersTo, ...story.referredBy].map((link) => ({ ...link, recordId: link.id }));
  const nameOf = await readNames(session, kinds, linked);
  const latest = await readLatestChanges(session, { kind: kind.name, recordId: id, limit: CHANGES_SHOWN });
  const origins = new Map(story.events.map((event) => [event.seq, event.origin])); // An adopted create names its entry.
  const changes = latest.map((change) => ({ ...change, origin: origins.get(change.seq) ?? change.origin }));
  const numbered = capitalize(`${kindLabel(reader, kind.name, 'one')} ${id}`);
  const body = html`<div class="body">
    <p>${pageSteps(reader, t('The record is {state}.', { state: t(STORY_STATES[story.state]) }))}</p>
    ${stateFacts(kind.name, story, nameOf, reader)}
  </div>`;
  const address = linkTo('/changes', { kind: kind.name, record: id });
  const all = link(address, t('all {n, number}', { n: story.events.length }));
  const note = story.events.length > changes.length ? all : null;
  const none = emptyNote(t(noEventWords(story.row)));
  const versions = changes.length === 0 ? none : changeList(changes, reader, story.pushers, true);
  const recordTitle = recordName(story.row?.raw ?? changes[0]?.before ?? null);
  const title = recordTitle === '' ? numbered : recordTitle;
  const correct = html` · <a href="/plans">${t('To correct it: edit the workbook, then upload it')}</a>`;
  const files = dashboard.fileLinks.map(
    (links) => html` · ${links(reader, kind.name, { ids: id })}${kind.update === null ? null : correct}`,
  );
  const content = html`<div id="record" data-live>
    ${panel({ id: 'state', title: t('State') }, body)}
    <div class="columns">
      <div>${fieldPanel(kind.name, story, reader)} ${referredPanel(story, nameOf, reader)}</div>
      <div>
        ${panel({ id: 'versions', title: t('Versions'), note }, versions)}
        ${issuePanel(kind.name, story, reader)} ${entryPanel(story.entries, reader)}
      </div>
    </div>
    ${listPanels(reader, kind.name, parseObjectText(story.row?.raw ?? null))}
  </div>`;
  const heading = html`<span translate="no">${title}</span>`;
  const about = html`${titled(`${kind.name} ${id}`, numbered)}${files}`;
  return { title, heading, about, part: '/kinds', content };
});

function stateFacts(kind: string, story: RecordStory, nameOf: NameOf, reader: Reader): Html {
  const { t, exactTime } = reader;
  const { state, row, absence, createdBy, refersTo } = story;
  const deletedAt = row?.deletedAt ?? null;
  const proof = absence && proofWords(absence);
  const id = createdBy ?? 0;
  return factList([
    [t('First seen'), row && exactTime(row.firstSeenAt)],
    [t('Last changed'), row && exactTime(row.changedAt)],
    [t(state === 'suppressed' ? 'Forgotten' : 'Deleted'), exactTime(deletedAt)],
    [
      t('Not in the list since'),
      absence && html`${exactTime(absence.absentSince)}${proof && `; ${t(proof)}`}`,
    ],
    [t('Created by'), id === 0 ? null : link(`/outbox/${id}`, t('entry {id} of the outbox', { id }))],
    ...refersTo.map((link) => {
      const name = nameOf(link.kind, link.id);
      return [labelledField(reader, kind, link.field), recordLink(reader, link.kind, link.id, name)] as const;
    }),
  ]);
}

const LONGEST_VALUE = 4_000;

function fieldPanel(kind: string, story: RecordStory, reader: Reader): Html {
  const { t } = reader;
  const record = parseObjectText(story.row?.raw ?? null);
  const { groups, empty } = groupFields(record);
  const isGone = (story.row?.deletedAt ?? null) !== null;
  const note = t(isGone ? 'as the service sent them last' : 'as the service sent them');
  const parts = groups.map(
    (group) =>
      html`<h3 class="group">${t(group.title)}</h3>
        ${fieldsTable(t(group.title), kind, group.record, reader)}`,
  );
  const n = Object.keys(empty).length;
  const folded = html`<details class="group" id="empty">
    <summary>${t('{n, plural, one {# empty field} other {# empty fields}}', { n })}</summary>
    ${fieldsTable(t('Empty fields'), kind, empty, reader)}
  </details>`;
  const none = emptyNote(t('The mirror has no row for this record.'));
  return panel(
    { id: 'fields', title: t('Fields'), note },
    groups.length + n === 0 ? none : html`${parts} ${n === 0 ? null : folded}`,
  );
}

function referredPanel(story: RecordStory, nameOf: NameOf, reader: Reader): Html | null {
  if (story.referredBy.length === 0) return null;
  const groups = Map.groupBy(story.referredBy, (reference) =>
    reader.t('{kind} ({field})', {
      kind: kindLabel(reader, reference.kind),
      field: fieldLabel(reader, reference.kind, reference.field),
    }),
  );
  const facts = [...groups].map(([name, links]) => {
    const items = links.map(({ kind, id }) => html`${recordLink(reader, kind, id, nameOf(kind, id))} `);
    return [
      name,
      html`${items}${links.length < MOST_REFERRED ? null : html`<span class="quiet">${reader.t('and more')}</span>`}`,
    ] as const;
  });
  return panel(
    { id: 'referred', title: reader.t('Referenced by') },
    html`<div class="body">${factList(facts)}</div>`,
  );
}

function issuePanel(kind: string, story: RecordStory, reader: Reader): Html | null {
  if (story.issues.length === 0) return null;
  const { t, term, exactTime } = reader;
  const items = story.issues.map(({ field, code, detail, firstSeenAt, closedAt }) => {
    const tone = closedAt === null ? 'warn' : 'plain';
    const issue = html`<span class="state ${tone}" title="${code}">${term(code).replaceAll('_', ' ')}</span>`;
    return feedItem(
      html`${issue} <span>${field && labelledField(reader, kind, field)}</span>`,
      html`${exactTime(firstSeenAt)}${closedAt === null ? '' : `, ${t('closed')}`}`,
      html`<p class="small quiet" translate="no">${ellipsize(detail ?? '', LONGEST_VALUE)}</p>`,
    );
  });
  return panel({ id: 'issues', title: t('Issues') }, itemList(items));
}

function entryPanel(entries: readonly EntryWithAttempts[], reader: Reader): Html | null {
  if (entries.length === 0) return null;
  const { t, term, when } = reader;
  const items = entries.map(({ entry, attempts }) => {
    const { id, state, operation, updatedAt } = entry;
    return feedItem(
      html`${badge(reader, state)} ${link(`/outbox/${id}`, `${term(operation)}, ${t('entry {id}', { id })}`)}`,
      when(updatedAt),
      html`<p class="small">${explain(entry, reader).meaning}</p>
        <p class="small quiet">
          ${t('{n, plural, =0 {never sent} one {sent # time} other {sent # times}}:', { n: attempts.length })}
          <span translate="no">${ellipsize(payloadText(entry, reader), 200)}</span>
        </p>`,
    );
  });
  return panel({ id: 'entries', title: t('Outbox') }, itemList(items));
}
