import { fieldLabel } from '../catalog/descriptions.ts';
import { isArray, isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import type { Attempt } from '../store/outbox/attempts-and-links.ts';
import { findEntry, type Entry } from '../store/outbox/outbox-store.ts';
import {
  candidatesOf,
  jsonOrText,
  readHistory,
  type Candidate,
  type EntryHistory,
} from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import { operationLine } from './outbox-page.ts';
import { parseObjectText, recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { recordLink } from './parts/change-list.ts';
import { entryDecisions } from './parts/decisions.ts';
import { focusable, html, type Html } from '../http/html.ts';
import { markEnglish } from './parts/english.ts';
import { badge, column, dataTable, factList, feedItem, itemList, panel } from './parts/layout.ts';
import { pageAt, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { duration } from './parts/runs.ts';
import { rowPath } from '../operations/inputs.ts';
import { ellipsize, labelledField, membersText, fieldValue, valueAsText, verbatim } from './parts/values.ts';

/** What a decision on an entry was about. */
async function describeEntry({ session, kinds }: Dashboard, id: number, reader: Reader) {
  const entry = await findEntry(session, id);
  if (entry === null) return null;
  const line = operationLine(entry, await readNames(session, kinds, [entry]), reader);
  return { about: html`<a href="/outbox/${id}">${id}</a> ${line}` };
}

const described = { params: rowPath, describe: describeEntry };
const route = { path: '/outbox/:id', summary: 'Show one entry of the outbox', ...described };

export const addEntryPage = pageAt(route, async (dashboard, { params, user, reader }) => {
  const { session, kinds } = dashboard;
  const { t } = reader;
  const history = await readHistory(dashboard, params.id);
  const { entry, attempts, candidates } = history;
  const { id, state } = entry;
  const others = candidatesOf(entry).map((recordId) => ({ kind: entry.kind, recordId }));
  const nameOf = await readNames(session, kinds, [entry, ...others]);
  const standing = html`<div class="body">
    <p>${explain(entry, reader).meaning}</p>
    ${conflictTable(entry, reader)} ${entryDecisions(reader, history, user?.role)}
    ${factsOf(history, nameOf, reader)}
  </div>`;
  const beside = candidates.length === 0 ? null : t('next to the records that it may have created');
  const items = attempts.map((attempt) => attemptItem(attempt, reader));
  const sent = itemList(items, t('Nothing was sent.'));
  const content = html`<div id="entry" data-live>
    ${panel({ id: 'state', title: html`${t('State')} ${badge(reader, state)}` }, standing)}
    ${panel({ id: 'payload', title: t('What it writes'), note: beside }, valueTable(entry, candidates, reader))}
    ${panel({ id: 'attempts', title: t('Attempts'), note: t('recorded before sending') }, sent)}
  </div>`;
  return { title: t('Entry {id}', { id }), about: operationLine(entry, nameOf, reader), content };
});

function factsOf(history: EntryHistory, nameOf: NameOf, reader: Reader): Html {
  const { t, exactTime } = reader;
  const { entry, isMaker } = history;
  const { kind, recordId, key, verdict, createdAt, updatedAt, nextAttemptAt } = entry;
  const candidates = candidatesOf(entry).map(
    (id) => html`${recordLink(reader, kind, id, nameOf(kind, id))} `,
  );
  return factList([
    [t('Key'), html`<code>${key}</code>`],
    [t('Verdict'), verdict && html`<code>${verdict}</code>`],
    [t('Candidates'), candidates.length === 0 ? null : html`${candidates}`],
    [t('Made'), isMaker ? recordLink(reader, kind, recordId, nameOf(kind, recordId)) : null],
    [t('Pushed by'), entry.pushedBy],
    [t('Stored'), exactTime(createdAt)],
    [t('Changed'), exactTime(updatedAt)],
    [t(entry.state === 'unsettled' ? 'Next look' : 'Next attempt'), exactTime(nextAttemptAt)],
    [t('Result'), candidates.length > 0 ? null : resultWords(entry, reader)],
  ]);
}

/** The faults of an entry as sentences, any other result as its members; null for one that has a table. */
function resultWords(entry: Entry, reader: Reader): Html | null {
  const { kind, result } = entry;
  const value = jsonOrText(result);
  const faults = isObject(value) ? value['faults'] : null;
  if (isArray(faults))
    return html`${faults.map((each) => html`<p>${markEnglish(reader, valueAsText(each))}</p>`)}`;
  if (result === null || conflictTable(entry, reader) !== null) return null;
  return verbatim(membersText(value, (name) => fieldLabel(reader, kind, name)));
}

/** What a conflict shows: each field as it was, as the service has it now, and as the entry wants it. */
function conflictTable(entry: Entry, reader: Reader): Html | null {
  const { t } = reader;
  const result = jsonOrText(entry.result);
  const fields = isObject(result) ? (result['conflicts'] ?? result['fields']) : undefined;
  if (!isArray(fields) || fields.length === 0) return null;
  const nameOf = ({ field }: JsonObject): string => valueAsText(field);
  const values = (name: string, title: string) =>
    column(title, 'named', (field: JsonObject) =>
      fieldValue(reader, entry.kind, nameOf(field), field[name] ?? null),
    );
  return dataTable(
    { caption: t('Fields in doubt'), rows: fields.filter(isObject) },
    column(t('field'), '', (field) => labelledField(reader, entry.kind, nameOf(field))),
    values('base', t('before')),
    values('remote', t('now in the service')),
    values('wanted', t('wanted')),
  );
}

const LONGEST = 10_000;

function valueTable(entry: Entry, candidates: readonly Candidate[], reader: Reader): Html {
  const { kind, payload } = entry;
  const { t } = reader;
  const wanted = jsonOrText(payload);
  if (!isObject(wanted)) return html`<div class="body"><pre>${ellipsize(payload, LONGEST)}</pre></div>`;
  const values = (record: JsonObject) =>
    column('', '', ([name]: [string, Json]) => fieldValue(reader, kind, name, record[name] ?? ''));
  return dataTable(
    { caption: t('Fields to write'), rows: Object.entries(wanted), layout: 'grid' },
    column(t('field'), '', ([name]) => labelledField(reader, kind, name)),
    { ...values(wanted), heading: t('wanted') },
    ...candidates.map(({ id, raw }) => ({
      ...values(parseObjectText(raw)),
      heading: recordLink(reader, kind, id, recordName(raw)),
    })),
  );
}

function attemptItem(attempt: Attempt, reader: Reader): Html {
  const { n, openedAt, closedAt, grade, status, request, responseStart } = attempt;
  const { t, term, exactTime } = reader;
  const end = closedAt === null ? t('not answered yet') : term(grade ?? 'closed');
  const took = closedAt === null ? null : ` · ${duration(openedAt, closedAt, reader)}`;
  const state = badge(reader, closedAt === null ? 'running' : (grade ?? 'closed'), end);
  const answer = status === null ? null : t('status {status}', { status });
  const textPart = (label: string, text: string): Html =>
    html`<pre ${focusable(label)}>${ellipsize(text, LONGEST)}</pre>`;
  return feedItem(
    html`<strong>${t('Attempt {n}', { n })}</strong> ${state} <span>${answer}</span>`,
    html`${exactTime(openedAt)}${took}`,
    html`${textPart(t('Request of attempt {n}', { n }), request)}
    ${responseStart && textPart(t('Start of the answer to attempt {n}', { n }), responseStart)}`,
  );
}
