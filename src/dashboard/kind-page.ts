import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { isListed } from '../catalog/kind.ts';
import { SyncError } from '../lib/sync-error.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { describeOutcome } from '../words/outcome-texts.ts';
import type { UserRole } from '../store/users/user-store.ts';
import { latestReadings, type ReportedReading } from '../store/kinds/kind-standing.ts';
import { knownKindName, requireKind } from '../operations/inputs.ts';
import { canSend, decisionForms } from './parts/decisions.ts';
import { plotFigure } from './parts/drawings.ts';
import { capitalize, sentence } from '../lib/text/text.ts';
import { html, type Html } from '../http/html.ts';
import { formOf, type FormField } from './parts/forms.ts';
import {
  lastReadWords,
  kindsPanel,
  readKindLines,
  SINGLE,
  stateBadge,
  type KindLine,
} from './parts/kinds.ts';
import { column, countColumn, dataTable, factList, link, panel } from './parts/layout.ts';
import { pageAt, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { kindHeading, labelledKind } from './parts/values.ts';

const READINGS_SHOWN = 200;

const listed = { path: '/kinds', summary: 'Show every record kind' };

export const addKindsPage = pageAt(listed, async (dashboard, { reader }) => {
  const { kinds, clock } = dashboard;
  const { t } = reader;
  const lines = await readKindLines(dashboard, clock.now());
  const others = kinds.filter((kind) => !isListed(kind));
  const links = others.map(({ name }) => html` ${link(`/records/${name}`, labelledKind(reader, name))}`);
  const content = html`${kindsPanel(lines, reader)}
  ${links.length === 0 ? null : html`<p class="quiet">${t('No list; read one by one: {kinds}', { kinds: html`${links}` })}</p>`}`;
  return { title: t('Kinds'), about: t('Record kinds and how complete the mirror is'), content };
});

const shown = ({ kinds }: Dashboard) => ({
  path: '/kinds/:kind',
  summary: 'Show one record kind',
  params: z.strictObject({ kind: knownKindName(kinds) }),
});

export const addKindPage = pageAt(shown, async (dashboard, { user, params, reader }) => {
  const { session, kinds, clock } = dashboard;
  const { t } = reader;
  const { name: kind } = requireKind(kinds, params.kind);
  const line = (await readKindLines(dashboard, clock.now())).find((each) => each.kind === kind);
  if (line === undefined)
    throw new SyncError(`${kind} has no list: its records are read one by one.`, {
      code: 'record.unknown_kind',
      hint: `/records/${kind} shows those that were read.`,
    });
  const readings = await latestReadings(session, kind, READINGS_SHOWN);
  const ways = html`<a href="/records/${kind}">${t('Records')}</a> ·
    <a href="/changes?kind=${kind}">${t('Changes')}</a>
    ${dashboard.fileLinks.map((links) => html` · ${links(reader, kind)}`)}`;
  const readingsHead = { id: 'readings', title: t('Latest readings of the list'), isLive: true };
  const content = html`<div class="columns">
    <div>${standing(line, reader, user?.role)} ${plots(line, readings, reader)}</div>
    ${panel(readingsHead, readingTable(readings.slice(0, 12), reader))}
  </div>`;
  const heads = { heading: kindHeading(reader, kind), about: html`${stateBadge(reader, line)} ${ways}` };
  return { title: capitalize(kindLabel(reader, kind)), ...heads, content, hasPlots: true };
});

function standing(line: KindLine, reader: Reader, role?: UserRole): Html {
  const { kind, certifiedAt: certified, lastChangeAt: changed, rows, single } = line;
  const { why, known, next } = describeOutcome({ ...line, rows: null }, reader);
  const { t, count, when, exactTime } = reader;
  const words = [why, known].filter((text) => text !== null).map(sentence);
  const exact = html`<span class="quiet small">${exactTime(certified)}</span>`;
  const unlisted = single === 0 ? '' : ` (${t(SINGLE, { n: single })})`;
  const facts = factList([
    [t('Last complete reading'), lastReadWords(line, reader)],
    [t('List last known exactly'), certified === null ? t('never') : html`${when(certified)} ${exact}`],
    [t('Live rows'), rows === null ? '…' : `${count(rows)}${unlisted}`],
    [t('Last change'), when(changed) ?? t('none seen')],
    [t('Held deletions'), linkedCount(reader, '/deletions', line.heldDeletions)],
    [t('Open issues'), linkedCount(reader, `/issues?kind=${kind}`, line.openIssues)],
  ]);
  const about = kindLabel(reader, kind);
  const pull = { label: t('Pull now'), about, address: '/pulls', values: { kinds: kind } };
  return panel(
    { id: 'standing', title: t('Freshness and reliability'), isLive: true },
    html`<div class="body">
      <p>${words.join(' ')} ${next}</p>
      ${facts} ${decisionForms([pull], `/kinds/${kind}`, role)}
      ${canSend(role, '/backfills') ? backfillForms(kind, reader) : null}
    </div>`,
  );
}

/** The forms that have some records, some pages or all of a kind read again. */
function backfillForms(kind: string, { t }: Reader): Html {
  const form = (button: string, values: Readonly<Record<string, string>>, ...fields: readonly FormField[]) =>
    formOf({
      action: '/backfills',
      look: 'filters',
      values: { kind, back: `/kinds/${kind}`, ...values },
      fields,
      button,
    });
  const field = (name: string, label: string, example: string): FormField => {
    return { name, label, attributes: html`placeholder="${example}" required` };
  };
  return html`<details id="backfill">
    <summary class="button">${t('Read again…')}</summary>
    ${form(t('Read these records again'), {}, field('ids', t('Numbers of records'), '1,5-9'))}
    ${form(t('Read these pages again'), {}, field('pages', t('Pages of the list'), '1-20'))}
    ${form(t('Read the whole list again'), { all: 'true' })}
  </details>`;
}

const linkedCount = (reader: Reader, address: string, number: number): Html | string =>
  number === 0 ? reader.t('none') : html`<a href="${address}">${reader.count(number)}</a>`;

const HOUR_MS = 3_600_000;

function plots(line: KindLine, readings: readonly ReportedReading[], reader: Reader): Html {
  const { t } = reader;
  const present = Math.floor(reader.now().getTime() / HOUR_MS) * HOUR_MS;
  const changes = Array.from({ length: line.hours === null ? 0 : 48 }, (_, index) => ({
    at: new Date(present - (47 - index) * HOUR_MS),
    value: line.hours?.[index] ?? 0,
  }));
  const rows = readings
    .filter((reading) => reading.state === 'certified' || reading.state === 'complete')
    .map((reading) => ({ at: parseInstant(reading.startedAt), value: reading.rows }))
    .toReversed();
  const body = html`<div class="body">
    ${plotFigure({ id: 'changes', title: t('Changes per hour'), unit: t('changes'), shape: 'steps', points: changes }, reader)}
    <h3>${t('Rows in the list')}</h3>
    ${plotFigure({ id: 'rows', title: t('Rows in the list'), unit: t('rows'), shape: 'line', points: rows }, reader)}
  </div>`;
  const note = t(line.hours === null ? 'being counted' : 'the last 48 hours');
  return panel({ id: 'plots', title: t('Changes per hour'), note, isLive: false }, body);
}

function readingTable(rows: readonly ReportedReading[], reader: Reader): Html {
  const { t, count, when, tenths } = reader;
  return dataTable(
    { caption: t('Latest readings of the list, newest first'), rows, none: t('It was never read.') },
    column(t('run'), '', (reading) => {
      const { runId: id } = reading;
      return html`${link(`/runs/${id}`, t('run {id}', { id }))} ${stateBadge(reader, reading)}`;
    }),
    column(t('began'), 'nowrap early', ({ startedAt }) => when(startedAt)),
    column(t('pages'), 'number wide', ({ pages }) => count(pages)),
    countColumn(reader, 'rows', ({ rows }) => rows),
    countColumn(reader, 'changes', ({ created, updated, deleted, restored }) => {
      return created + updated + deleted + restored;
    }),
    column(t('requests'), 'number wide', ({ requests }) => count(requests)),
    column(t('took'), 'number wide', ({ durationMs }) => tenths(durationMs)),
  );
}
