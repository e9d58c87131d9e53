import * as z from 'zod';
import { compactJson, isArray, isObject } from '../lib/json/json.ts';
import type { Attempt } from '../store/outbox/attempts-and-links.ts';
import type { Entry } from '../store/outbox/outbox-store.ts';
import {
  candidatesOf,
  jsonOrText,
  readHistory,
  type Candidate,
  type History,
} from '../outbound/decisions/entry-list.ts';
import { explain } from '../words/verdicts.ts';
import type { Server } from '../http/server.ts';
import { entryBadge } from './outbox-page.ts';
import { objectIn } from '../store/records/record-name.ts';
import { recordLink } from './parts/change-list.ts';
import { entryDecisions } from './parts/decisions.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { factList, feed, nothing, pageTitle, panel } from './parts/layout.ts';
import { addPage, done, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { rowPath } from '../operations/inputs.ts';
import { cut, breakableName, labelledField, membersText, valueAsText, verbatim } from './parts/values.ts';

/** Adds the page of an entry: its state, what can be decided, its content, and every request that was sent for it. */
export function addEntryPage(app: Server, dashboard: Dashboard): void {
  const querystring = z.object({ done });
  const page = { path: '/outbox/:id', summary: 'Show one entry of the outbox', params: rowPath, querystring };
  addPage(app, dashboard, page, async (asked) => {
    const { params, caller, reader } = asked;
    const { say, word } = reader;
    const history = await readHistory(dashboard.session, params.id);
    const { entry, attempts, candidates } = history;
    const { id, kind, recordId, operation, state } = entry;
    const standing = html`<div class="body">
      <p>${explain(entry, reader).meaning}</p>
      ${entryDecisions(reader, entry, caller?.role)} ${factsOf(history, reader)}
    </div>`;
    const beside = candidates.length === 0 ? null : say('beside the records that it may have made');
    const items = attempts.map((attempt) => attemptItem(attempt, reader));
    const sent = items.length === 0 ? nothing(say('Nothing was sent.')) : feed(items);
    const title = say('Entry {id}', { id });
    const content = html`${pageTitle(title, html`${word(operation)} ${recordLink(kind, recordId)} ${entryBadge(reader, state)}`)}
      <div id="entry" data-live>
        ${panel({ id: 'state', title: say('State') }, standing)} ${conflictPanel(entry, reader)}
        ${panel({ id: 'payload', title: say('What it writes'), note: beside }, valueTable(entry, candidates, reader))}
        ${panel({ id: 'attempts', title: say('Attempts'), note: say('journalled before they are sent') }, sent)}
      </div>`;
    return { title, content };
  });
}

function factsOf({ entry, isMaker }: History, { say, exactly }: Reader): Html {
  const { kind, recordId, key, verdict, createdAt, updatedAt, nextAttemptAt, result } = entry;
  const candidates = candidatesOf(entry).map((id) => html`${recordLink(kind, id)} `);
  return factList([
    [say('Key'), html`<code>${key}</code>`],
    [say('Verdict'), verdict === null ? null : html`<code>${verdict}</code>`],
    [say('Candidates'), candidates.length === 0 ? null : html`${candidates}`],
    [say('Made'), isMaker ? recordLink(kind, recordId) : null],
    [say('Pushed by'), entry.pushedBy],
    [say('Stored'), exactly(createdAt)],
    [say('Changed'), exactly(updatedAt)],
    [say('Next try'), nextAttemptAt === null || entry.state === 'done' ? null : exactly(nextAttemptAt)],
    [
      say('Result'),
      candidates.length > 0 || result === null ? null : verbatim(membersText(jsonOrText(result))),
    ],
  ]);
}

/** Fields that another user changed too, or that the service did not take. */
function conflictPanel(entry: Entry, reader: Reader): Html | null {
  const { say } = reader;
  const noted = jsonOrText(entry.result);
  const fields = isObject(noted) ? (noted['conflicts'] ?? noted['fields']) : undefined;
  if (!isArray(fields) || fields.length === 0) return null;
  const columns = ['base', 'remote', 'wanted'] as const;
  const rows = fields.filter(isObject).map(
    (field) =>
      html`<tr>
        <th scope="row">${breakableName(valueAsText(field['field']))}</th>
        ${columns.map((column) => html`<td>${verbatim(compactJson(field[column] ?? null))}</td>`)}
      </tr>`,
  );
  const caption = say('Fields with the values of the base, of the service, and those that were wanted');
  const headings = [say('field'), say('base'), say('in the service'), say('wanted')];
  const table = dataTable(caption, headings, rows);
  return panel({ id: 'conflicts', title: say('Fields in doubt') }, table);
}

const LONGEST = 10_000;

function valueTable(entry: Entry, candidates: readonly Candidate[], reader: Reader): Html {
  const { kind, payload } = entry;
  const { say, sayEach } = reader;
  const value = jsonOrText(payload);
  if (!isObject(value)) return html`<div class="body"><pre>${cut(payload, LONGEST)}</pre></div>`;
  const records = candidates.map((candidate) => objectIn(candidate.raw));
  const rows = Object.entries(value).map(
    ([name, one]) =>
      html`<tr>
        <th scope="row">${labelledField(reader, kind, name)}</th>
        <td>${verbatim(cut(valueAsText(one), LONGEST))}</td>
        ${records.map((record) => html`<td>${verbatim(cut(valueAsText(record[name]), LONGEST))}</td>`)}
      </tr>`,
  );
  const links = candidates.map((candidate) => recordLink(kind, candidate.id));
  return dataTable(say('Fields to write'), [...sayEach('field', 'wanted'), ...links], rows);
}

const GRADES: Readonly<Record<string, string>> = { done: 'good', rejected: 'bad', unsent: 'plain' };

function attemptItem(attempt: Attempt, reader: Reader): Html {
  const { n, openedAt, closedAt, grade, status, request, responseStart } = attempt;
  const { say, word, exactly } = reader;
  const end = closedAt === null ? say('not answered yet') : word(grade ?? 'closed');
  const times =
    closedAt === null
      ? exactly(openedAt)
      : say('{from} to {to}', { from: exactly(openedAt), to: exactly(closedAt) });
  return html`<li>
    <div class="head">
      <strong>${say('Try {n}', { n })}</strong>
      <span class="state ${GRADES[grade ?? ''] ?? 'warn'}">${end}</span>
      <span>${status === null ? null : say('status {status}', { status })}</span>
      <span class="last quiet small"> ${times} </span>
    </div>
    <pre tabindex="0" aria-label="${say('Request of try {n}', { n })}">${cut(request, LONGEST)}</pre>
    ${
      responseStart === null
        ? null
        : html`<pre tabindex="0" aria-label="${say('Beginning of the answer to try {n}', { n })}">
${cut(responseStart, LONGEST)}</pre>`
    }
  </li>`;
}
