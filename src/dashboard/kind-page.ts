import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { isListed } from '../catalog/kind.ts';
import { SyncError } from '../lib/sync-error.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { describeOutcome } from '../words/outcome-texts.ts';
import type { UserRole } from '../store/users/user-store.ts';
import { latestReadings, type ReportedReading } from '../store/kinds/kind-standing.ts';
import { knownKindName, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { canSend, decisionForms } from './parts/decisions.ts';
import { plotFigure } from './parts/drawings.ts';
import { capitalize, sentence } from '../lib/text/text.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import {
  lastReadWords,
  kindsPanel,
  readKindLines,
  SINGLE,
  stateBadge,
  type KindLine,
} from './parts/kinds.ts';
import { countCell, factList, emptyNote, pageTitle, panel } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { kindHeading, labelledKind } from './parts/values.ts';

const READINGS_SHOWN = 200;

export function addKindPages(app: Server, dashboard: Dashboard): void {
  const { session, kinds, clock } = dashboard;
  addPage(app, dashboard, { path: '/kinds', summary: 'Show every record kind' }, async (request) => {
    const { t } = request.reader;
    const lines = await readKindLines(dashboard, clock.now());
    const others = kinds.filter((kind) => !isListed(kind));
    const links = others.map(
      (other) => html` <a href="/records/${other.name}">${labelledKind(request.reader, other.name)}</a>`,
    );
    const content = html`${pageTitle(t('Kinds'), t('Record kinds and how complete the mirror is'))}
    ${kindsPanel(lines, request.reader)}
    ${links.length === 0 ? null : html`<p class="quiet">${t('No list; read one by one: {kinds}', { kinds: html`${links}` })}</p>`}`;
    return { title: t('Kinds'), content };
  });
  const params = z.strictObject({ kind: knownKindName(kinds) });
  const page = { path: '/kinds/:kind', summary: 'Show one record kind', params };
  addPage(app, dashboard, page, async ({ user, params: { kind: name }, reader }) => {
    const { t } = reader;
    const { name: kind } = requireKind(kinds, name);
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
    const content = html`${pageTitle(kindHeading(reader, kind), html`${stateBadge(reader, line)} ${ways}`)}
      <div class="columns">
        <div>${standing(line, reader, user?.role)} ${plots(line, readings, reader)}</div>
        ${panel(readingsHead, readingTable(readings.slice(0, 12), reader))}
      </div>`;
    return { title: capitalize(kindLabel(reader, kind)), content, hasPlots: true };
  });
}

function standing(line: KindLine, reader: Reader, role?: UserRole): Html {
  const { kind, certifiedAt: certified, lastChangeAt: changed, rows, single } = line;
  const { why, known, next } = describeOutcome({ ...line, rows: null }, reader);
  const { t, count, when, exactTime } = reader;
  const words = [why, known].filter((text) => text !== null).map(sentence);
  const facts = factList([
    [t('Last complete reading'), lastReadWords(line, reader)],
    [
      t('List last known exactly'),
      certified === null
        ? t('never')
        : html`${when(certified)} <span class="quiet small">${exactTime(certified)}</span>`,
    ],
    [
      t('Live rows'),
      rows === null ? '…' : `${count(rows)}${single === 0 ? '' : ` (${t(SINGLE, { n: single })})`}`,
    ],
    [t('Last change'), changed === null ? t('none seen') : when(changed)],
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
  const form = (input: Html, label: string): Html =>
    html`<form class="filters" method="post" action="/backfills">
      <input type="hidden" name="kind" value="${kind}" />
      <input type="hidden" name="back" value="/kinds/${kind}" />
      ${input} <button>${label}</button>
    </form>`;
  const field = (name: string, label: string, example: string): Html =>
    html`<label>${label} <input name="${name}" placeholder="${example}" required /></label>`;
  const ids = field('ids', t('Numbers of records'), '1,5-9');
  const pages = field('pages', t('Pages of the list'), '1-20');
  const all = html`<input type="hidden" name="all" value="true" />`;
  return html`<details id="backfill">
    <summary class="button">${t('Read again…')}</summary>
    ${form(ids, t('Read these records again'))} ${form(pages, t('Read these pages again'))}
    ${form(all, t('Read the whole list again'))}
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

function readingTable(readings: readonly ReportedReading[], reader: Reader): Html {
  const { t, tEach, count, when, tenths } = reader;
  if (readings.length === 0) return emptyNote(t('It was never read.'));
  const rows = readings.map((reading) => {
    const changes = reading.created + reading.updated + reading.deleted + reading.restored;
    return html`<tr>
      <th scope="row">
        <a href="/runs/${reading.runId}">${t('run {id}', { id: reading.runId })}</a>
        ${stateBadge(reader, reading)}
      </th>
      <td class="nowrap early">${when(reading.startedAt)}</td>
      <td data-title="${t('pages')}" class="number wide">${count(reading.pages)}</td>
      ${countCell(reader, 'rows', reading.rows)} ${countCell(reader, 'changes', changes)}
      <td data-title="${t('requests')}" class="number wide">${count(reading.requests)}</td>
      <td data-title="${t('took')}" class="number wide">${tenths(reading.durationMs)}</td>
    </tr>`;
  });
  const numbers = tEach('pages', 'rows', 'changes', 'requests', 'took');
  const caption = t('Latest readings of the list, newest first');
  const headings = [...tEach('run', 'began'), ...numbers.map((number) => ({ number }))];
  return dataTable(caption, headings, rows, 'cards');
}
