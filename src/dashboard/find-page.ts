import * as z from 'zod';
import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import { isArray, isObject } from '../lib/json/json.ts';
import { isSearchField, normalized, searchedWords } from '../store/tables/search-text.ts';
import { html, type Html } from '../http/html.ts';
import { NOT_FOUND, searchRecords } from '../store/records/find-records.ts';
import { parseObjectText, recordName } from '../store/records/record-name.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import type { MirroredRecord } from '../store/records/record-store.ts';
import { recordLink } from './parts/change-list.ts';
import { formOf } from './parts/forms.ts';
import { badge, column, emptyNote, foldedTable, link, panel } from './parts/layout.ts';
import { pageAt, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo, PAGE_ROWS } from './parts/paging.ts';
import { kindHeading, valueAsText } from './parts/values.ts';

const SHOWN_OF_A_KIND = 10;
const FEWEST_OPEN = 2;

export const searched = z
  .string()
  .max(100)
  .optional()
  .describe('the id, or words of a code, name, phone number or e-mail');

const querystring = z.object({ q: searched });
const route = { path: '/find', summary: 'Find records of all kinds by their texts', querystring };

export const addFindPage = pageAt(route, async (dashboard, { query: { q: text = '' }, reader }) => {
  const { session, kinds } = dashboard;
  const { t } = reader;
  const found: { kind: string; records: readonly MirroredRecord[] }[] = [];
  const unprepared: string[] = [];
  for (const kind of kinds) {
    const search = { text, limit: SHOWN_OF_A_KIND + 1 };
    const { records, isPrepared } = await searchRecords(session, kind, search);
    if (!isPrepared) unprepared.push(kind.name);
    if (records.length > 0) found.push({ kind: kind.name, records });
  }
  const open = Math.max(FEWEST_OPEN, Math.floor(PAGE_ROWS / found.length));
  const panels: Html[] = [];
  for (const { kind, records } of found) {
    const all = link(linkTo(`/records/${kind}`, { q: text }), t('all results'));
    const note = records.length > SHOWN_OF_A_KIND ? all : null;
    const shown = { kind, rows: records.slice(0, SHOWN_OF_A_KIND), text, open };
    panels.push(
      panel(
        { id: kind, title: kindHeading(reader, kind), note },
        await recordTable(dashboard, shown, reader),
      ),
    );
  }
  const none = text === '' ? null : emptyNote(t(NOT_FOUND));
  const content = html`${searchForm(reader, '/find', text)}
  ${unprepared.length === 0 ? null : preparingNote(reader, unprepared)}
  ${panels.length > 0 ? panels : unprepared.length === 0 ? none : null}`;
  return { title: t('Search'), about: t('Records of all kinds'), content, isStill: true };
});

export function searchForm({ t }: Reader, action: string, value: string): Html {
  const label = t('id, code, name, phone or e-mail');
  const fields = [{ name: 'q', label, value, type: 'search' }] as const;
  return formOf({ action, method: 'get', look: 'filters', fields, button: t('Find') });
}

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

interface ShownRecords {
  readonly kind: string;
  readonly rows: readonly MirroredRecord[];
  /** What was searched for. */
  readonly text: string;
  readonly open?: number;
}

export async function recordTable(
  { session, kinds }: Dashboard,
  { kind, rows, text, open = PAGE_ROWS }: ShownRecords,
  reader: Reader,
): Promise<Html> {
  const { t, exactTime } = reader;
  const clients = rows.map(({ raw }) => ({ kind: 'clients', recordId: clientOf(raw) }));
  const nameOf = await readNames(session, kinds, clients);
  const words = searchedWords(text);
  const caption = t('Records of {kind}', { kind: kindLabel(reader, kind) });
  return foldedTable(
    reader,
    { open, caption, rows, layout: 'cards linked' },
    column(t('name'), 'brief', ({ id, raw }) => recordLink(reader, kind, id, recordName(raw))),
    column(
      t(text === '' ? 'phone and city' : 'found by, or phone and city'),
      'small brief data',
      ({ raw }) => matchOf(reader, kind, raw, words) || placeOf(raw, nameOf),
    ),
    column(t('state'), 'early', ({ deletedAt }) => badge(reader, deletedAt === null ? 'live' : 'deleted')),
    column(t('changed'), 'small nowrap early', ({ deletedAt, changedAt }) =>
      exactTime(deletedAt ?? changedAt),
    ),
  );
}
