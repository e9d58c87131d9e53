import { fieldLabel } from '../catalog/descriptions.ts';
import { isArray, isObject } from '../lib/json/json.ts';
import type { Attempt } from '../store/outbox/attempts-and-links.ts';
import type { Entry } from '../store/outbox/outbox-store.ts';
import {
  candidatesOf,
  jsonOrText,
  readHistory,
  type Candidate,
  type EntryHistory,
} from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import type { Server } from '../http/server.ts';
import { operationLine } from './outbox-page.ts';
import { parseObjectText, recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { recordLink } from './parts/change-list.ts';
import { entryDecisions } from './parts/decisions.ts';
import { dataTable, focusable, html, type Html } from '../http/html.ts';
import { badge, factList, itemList, emptyNote, markEnglish, pageTitle, panel } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { duration } from './parts/runs.ts';
import { rowPath } from '../operations/inputs.ts';
import { ellipsize, labelledField, membersText, fieldValue, valueAsText, verbatim } from './parts/values.ts';

export function addEntryPage(app: Server, dashboard: Dashboard): void {
  const page = { path: '/outbox/:id', summary: 'Show one entry of the outbox', params: rowPath };
  addPage(app, dashboard, page, async ({ params, user, reader }) => {
    const { t } = reader;
    const history = await readHistory(dashboard, params.id);
    const { entry, attempts, candidates } = history;
    const { id, state } = entry;
    const others = candidatesOf(entry).map((recordId) => ({ kind: entry.kind, recordId }));
    const nameOf = await readNames(dashboard.session, dashboard.kinds, [entry, ...others]);
    const standing = html`<div class="body">
      <p>${explain(entry, reader).meaning}</p>
      ${conflictTable(entry, reader)} ${entryDecisions(reader, history, user?.role)}
      ${factsOf(history, nameOf, reader)}
    </div>`;
    const beside = candidates.length === 0 ? null : t('next to the records that it may have created');
    const items = attempts.map((attempt) => attemptItem(attempt, reader));
    const sent = items.length === 0 ? emptyNote(t('Nothing was sent.')) : itemList(items);
    const title = t('Entry {id}', { id });
    const content = html`${pageTitle(title, operationLine(entry, nameOf, reader))}
      <div id="entry" data-live>
        ${panel({ id: 'state', title: html`${t('State')} ${badge(reader, state)}` }, standing)}
        ${panel({ id: 'payload', title: t('What it writes'), note: beside }, valueTable(entry, candidates, reader))}
        ${panel({ id: 'attempts', title: t('Attempts'), note: t('recorded before sending') }, sent)}
      </div>`;
    return { title, content };
  });
}

function factsOf(history: EntryHistory, nameOf: NameOf, reader: Reader): Html {
  const { t, exactTime } = reader;
  const { entry, isMaker } = history;
  const { kind, recordId, key, verdict, createdAt, updatedAt, nextAttemptAt } = entry;
  const candidates = candidatesOf(entry).map(
    (id) => html`${recordLink(reader, kind, id, nameOf(kind, id))} `,
  );
  return factList([
    [t('Key'), html`<code>${key}</code>`],
    [t('Verdict'), verdict === null ? null : html`<code>${verdict}</code>`],
    [t('Candidates'), candidates.length === 0 ? null : html`${candidates}`],
    [t('Made'), isMaker ? recordLink(reader, kind, recordId, nameOf(kind, recordId)) : null],
    [t('Pushed by'), entry.pushedBy],
    [t('Stored'), exactTime(createdAt)],
    [t('Changed'), exactTime(updatedAt)],
    [
      t(entry.state === 'unsettled' ? 'Next look' : 'Next attempt'),
      nextAttemptAt === null ? null : exactTime(nextAttemptAt),
    ],
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
  const { t, tEach } = reader;
  const result = jsonOrText(entry.result);
  const fields = isObject(result) ? (result['conflicts'] ?? result['fields']) : undefined;
  if (!isArray(fields) || fields.length === 0) return null;
  const columns = [
    ['base', t('before')],
    ['remote', t('now in the service')],
    ['wanted', t('wanted')],
  ] as const;
  const rows = fields.filter(isObject).map(
    (field) =>
      html`<tr>
        <th scope="row">${labelledField(reader, entry.kind, valueAsText(field['field']))}</th>
        ${columns.map(([name, title]) => html`<td data-title="${title}">${fieldValue(reader, entry.kind, valueAsText(field['field']), field[name] ?? null)}</td>`)}
      </tr>`,
  );
  const headings = [...tEach('field'), ...columns.map(([, title]) => title)];
  return dataTable(t('Fields in doubt'), headings, rows, 'cards');
}

const LONGEST = 10_000;

function valueTable(entry: Entry, candidates: readonly Candidate[], reader: Reader): Html {
  const { kind, payload } = entry;
  const { t, tEach } = reader;
  const wanted = jsonOrText(payload);
  if (!isObject(wanted)) return html`<div class="body"><pre>${ellipsize(payload, LONGEST)}</pre></div>`;
  const records = candidates.map((candidate) => parseObjectText(candidate.raw));
  const rows = Object.entries(wanted).map(
    ([name, value]) =>
      html`<tr>
        <th scope="row">${labelledField(reader, kind, name)}</th>
        <td>${fieldValue(reader, kind, name, value)}</td>
        ${records.map((record) => html`<td>${fieldValue(reader, kind, name, record[name] ?? '')}</td>`)}
      </tr>`,
  );
  const links = candidates.map((candidate) =>
    recordLink(reader, kind, candidate.id, recordName(candidate.raw)),
  );
  return dataTable(t('Fields to write'), [...tEach('field', 'wanted'), ...links], rows);
}

function attemptItem(attempt: Attempt, reader: Reader): Html {
  const { n, openedAt, closedAt, grade, status, request, responseStart } = attempt;
  const { t, term, exactTime } = reader;
  const end = closedAt === null ? t('not answered yet') : term(grade ?? 'closed');
  const took = closedAt === null ? null : ` · ${duration(openedAt, closedAt, reader)}`;
  return html`<li>
    <div class="head">
      <strong>${t('Attempt {n}', { n })}</strong>
      ${badge(reader, closedAt === null ? 'running' : (grade ?? 'closed'), end)}
      <span>${status === null ? null : t('status {status}', { status })}</span>
      <span class="last quiet small">${exactTime(openedAt)}${took}</span>
    </div>
    <pre ${focusable(t('Request of attempt {n}', { n }))}>${ellipsize(request, LONGEST)}</pre>
    ${
      responseStart === null
        ? null
        : html`<pre ${focusable(t('Start of the answer to attempt {n}', { n }))}>
${ellipsize(responseStart, LONGEST)}</pre>`
    }
  </li>`;
}
