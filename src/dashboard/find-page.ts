import * as z from 'zod';
import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import { isArray, isObject } from '../lib/json/json.ts';
import { isSearchField, normalized, searchedWords } from '../store/tables/search-text.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import type { Server } from '../http/server.ts';
import { NOT_FOUND, searchRecords } from '../store/records/find-records.ts';
import { parseObjectText, recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import type { MirroredRecord } from '../store/records/record-store.ts';
import { recordLink } from './parts/change-list.ts';
import { badge, emptyNote, pageTitle, panel } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo } from './parts/paging.ts';
import { kindHeading, valueAsText } from './parts/values.ts';

const SHOWN_OF_A_KIND = 10;

export const searched = z
  .string()
  .max(100)
  .optional()
  .describe('the id, or words of a code, name, phone number or e-mail');

export function addFindPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const querystring = z.object({ q: searched });
  const page = { path: '/find', summary: 'Find records of all kinds by their texts', querystring };
  addPage(app, dashboard, page, async ({ query: { q: text = '' }, reader }) => {
    const { t } = reader;
    const panels: Html[] = [];
    const unprepared: string[] = [];
    for (const kind of kinds) {
      const search = { text, limit: SHOWN_OF_A_KIND + 1 };
      const { records, isPrepared } = await searchRecords(session, kind, search);
      if (!isPrepared) unprepared.push(kind.name);
      if (records.length === 0) continue;
      const all = html`<a href="${linkTo(`/records/${kind.name}`, { q: text })}">${t('all results')}</a>`;
      const note = records.length > SHOWN_OF_A_KIND ? all : null;
      const shown = { kind: kind.name, records: records.slice(0, SHOWN_OF_A_KIND), text };
      const table = await recordTable(dashboard, shown, reader);
      panels.push(panel({ id: kind.name, title: kindHeading(reader, kind.name), note }, table));
    }
    const none = text === '' ? null : emptyNote(t(NOT_FOUND));
    const content = html`${pageTitle(t('Search'), t('Records of all kinds'))}
    ${searchForm(reader, '/find', text)} ${unprepared.length === 0 ? null : preparingNote(reader, unprepared)}
    ${panels.length > 0 ? panels : unprepared.length === 0 ? none : null}`;
    return { title: t('Search'), content, isStill: true };
  });
}

export const searchForm = ({ t }: Reader, path: string, text: string): Html =>
  html`<form class="filters" method="get" action="${path}">
    <label class="wide"
      >${t('id, code, name, phone or e-mail')} <input type="search" name="q" value="${text}" /></label
    ><button>${t('Find')}</button>
  </form>`;

/** Names the kinds in which the search finds only ids so far. */
export function preparingNote(reader: Reader, names: readonly string[]): Html {
  const kinds = names.map((name) => kindLabel(reader, name)).join(', ');
  const note =
    'The search in {kinds} is being prepared: the next pull ends it, and until then some records are not found.';
  return html`<div role="status">${emptyNote(reader.t(note, { kinds }))}</div>`;
}

/** The fields that distinguish records of one name, if they name no client; of each line, the first one that is filled counts. */
const PLACES = [
  ['phone', 'cell_phone', 'phone_work', 'telephone', 'phone2'],
  ['city', 'ville'],
];

function placeOf(raw: string, nameOf: NameOf): string {
  const record = parseObjectText(raw);
  const texts = PLACES.map((names) =>
    names.map((name) => record[name]).find((value) => typeof value === 'string' && value !== ''),
  );
  return nameOf('clients', clientOf(raw)) || texts.filter((text) => typeof text === 'string').join(' · ');
}

/** The value for which a record was found, where its name does not show it: that of a field, or all of an item of a list. */
function matchOf(reader: Reader, kind: string, raw: string, words: readonly string[]): string {
  const finds = (text: string): boolean => words.some((word) => normalized(text).includes(word));
  if (words.length === 0 || finds(recordName(raw))) return '';
  for (const [name, value] of Object.entries(parseObjectText(raw)))
    for (const item of isArray(value) ? value : [value]) {
      const members = isObject(item) ? Object.entries(item) : [[name, item] as const];
      const texts = members.flatMap(([member, text]) =>
        isSearchField({ name: member, type: 'text' }) && typeof text === 'string' && text !== ''
          ? [text]
          : [],
      );
      if (texts.some(finds)) return `${fieldLabel(reader, kind, name)}: ${texts.join(', ')}`;
    }
  return '';
}

const clientOf = (raw: string): string | null => valueAsText(parseObjectText(raw)['client_id']) || null;

/** @param text What was searched for. */
export async function recordTable(
  { session, kinds }: Dashboard,
  { kind, records, text = '' }: { kind: string; records: readonly MirroredRecord[]; text?: string },
  reader: Reader,
): Promise<Html> {
  const { t, exactTime } = reader;
  const clients = records.map(({ raw }) => ({ kind: 'clients', recordId: clientOf(raw) }));
  const nameOf = await readNames(session, kinds, clients);
  const words = searchedWords(text);
  const rows = records.map(
    ({ id, raw, changedAt, deletedAt }) =>
      html`<tr class="linked">
        <th scope="row" class="brief">${recordLink(reader, kind, id, recordName(raw))}</th>
        <td class="small brief" translate="no">
          ${matchOf(reader, kind, raw, words) || placeOf(raw, nameOf)}
        </td>
        <td class="early">${badge(reader, deletedAt === null ? 'live' : 'deleted')}</td>
        <td class="small nowrap early">${exactTime(deletedAt ?? changedAt)}</td>
      </tr>`,
  );
  const headings = [
    t('name'),
    text === '' ? t('phone and city') : t('found by, or phone and city'),
    t('state'),
    t('changed'),
  ];
  return dataTable(t('Records of {kind}', { kind: kindLabel(reader, kind) }), headings, rows, 'cards');
}
