import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import {
  countDecisions,
  INTERFACES,
  listDecisions,
  type StoredDecision,
} from '../store/users/decision-store.ts';
import { readNames } from '../outbound/mirror-rows.ts';
import { html } from '../http/html.ts';
import type { MessageKey } from '../lib/text/translator.ts';
import { labelOf } from './parts/decisions.ts';
import { badge, column, dataTable, note } from './parts/layout.ts';
import { beforeId, pageAt, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pagedPanel } from './parts/paging.ts';
import { labelledKinds } from './parts/values.ts';

const PATH = '/decisions';

const querystring = z.object({ before: beforeId });
const route = { path: PATH, summary: 'Show who has decided what', querystring };

export const addDecisionsPage = pageAt(route, async (dashboard, { query, reader }) => {
  const { session } = dashboard;
  const { t, when } = reader;
  const read = await listDecisions(session, PAGE_ROWS + 1, query.before);
  const page = listPage(read, (decision) => decision.id, await countDecisions(session));
  const rows = [];
  for (const decision of page.rows)
    rows.push({ ...decision, ...(await aboutOf(dashboard, decision, reader)) });
  const title = t('Decisions');
  const table = dataTable(
    { caption: title, rows, none: t('None yet.') },
    column(t('what'), '', ({ what }) => html`<span title="${what}">${decisionLabel(what, reader)}</span>`),
    column(t('on what'), 'parts', ({ about, details, via }) => {
      const from = html`<span class="narrow">${t(INTERFACES[via])}. </span>`;
      return html`<span>${about}</span> ${note(html`${from} ${details ?? null}`)}`;
    }),
    column(t('who'), 'early', ({ who, role }) => {
      return html`<span translate="no">${who}</span> ${badge(reader, role)}`;
    }),
    column(t('interface'), 'wide', ({ via }) => t(INTERFACES[via])),
    column(t('when'), 'nowrap early', ({ at }) => when(at)),
  );
  const content = pagedPanel(reader, { id: 'decisions', title, path: PATH, query }, page, table);
  return { title, about: t('Who did what, newest first'), content };
});

/** The part of the dashboard, and the button there: `Outbox · Abandon`. */
const decisionLabel = (what: string, reader: Reader): string =>
  Array.from(what.split(' '), (word) => labelOf(reader, word)).join(' · ');

/** What a decision was about: an entry, a plan, kinds or a name; and what was decided. */
async function aboutOf(dashboard: Dashboard, decision: StoredDecision, reader: Reader) {
  const { what, target } = decision;
  const details = await sentencesOf(dashboard, decision, reader);
  if (target === null) return { about: what === 'pull' ? reader.t('all kinds') : '–', details };
  const [part = ''] = what === 'push' ? ['outbox'] : what.split(' ');
  const describe = /^\d+$/.test(target) ? dashboard.describers.get(part) : undefined;
  const names = target.split(',');
  const areKinds = names.every((name) => dashboard.kinds.some((kind) => kind.name === name));
  const about = areKinds ? labelledKinds(reader, names) : html`<span translate="no">${target}</span>`;
  return { about, details, ...(await describe?.(dashboard, Number(target), reader, what)) };
}

/** The sentence of each detail of a decision, which is stored as its member and value: `pages 1-20`. */
const DETAILS: Readonly<Record<string, MessageKey>> = {
  ids: 'Reads these records again: {value}.',
  pages: 'Reads pages {value} of the list again.',
  all: 'Reads the whole list again.',
  recordId: 'The record that it made is {value}.',
  overwrite: 'Replaces the values of the other user.',
  now: 'Does not wait any longer.',
  kinds: 'Receives events of these kinds: {value}.',
  changes: 'Receives these changes: {value}.',
  format: 'Receives events as {value}.',
  role: 'The role is {value}.',
  after: 'Sends the events after number {value} again.',
  entries: '{value, plural, one {# entry was stored.} other {# entries were stored.}}',
  suppress: 'The record stays out of the mirror.',
};

async function sentencesOf(dashboard: Dashboard, { target, detail }: StoredDecision, reader: Reader) {
  const sentences = [];
  for (const text of detail?.split('; ') ?? []) {
    const [member = '', value = ''] = text.split(/ (.*)/);
    const sentence = DETAILS[member];
    const shown = await valueOf(dashboard, { kind: target ?? '', member, value }, reader);
    sentences.push(sentence === undefined ? text : reader.t(sentence, { value: shown }));
  }
  return sentences.join(' ');
}

/** Records have their names, kinds their labels. */
async function valueOf(
  { session, kinds }: Dashboard,
  { kind, member, value }: Readonly<Record<'kind' | 'member' | 'value', string>>,
  reader: Reader,
): Promise<string | number> {
  const values = value.split(',');
  if (member === 'kinds') return values.map((name) => kindLabel(reader, name)).join(', ');
  if (member !== 'ids') return /^\d+$/.test(value) ? Number(value) : values.map(reader.term).join(', ');
  const records = values.slice(0, NAMES_SHOWN).map((recordId) => ({ kind, recordId }));
  const nameOf = await readNames(session, kinds, records);
  const names = records.map(({ recordId }) => nameOf(kind, recordId) || recordId).join(', ');
  const n = values.length - records.length;
  return n === 0 ? names : reader.t('{names} and {n, number} more', { names, n });
}

const NAMES_SHOWN = 5;
