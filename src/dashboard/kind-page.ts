import * as z from 'zod';
import { isListed } from '../catalog/kind.ts';
import { latestChanges } from '../feed/read-changes.ts';
import { pushersOf } from '../store/outbox/outbox-store.ts';
import { SyncError } from '../lib/sync-error.ts';
import { instantOf } from '../lib/time/clock.ts';
import { outcomeWords } from '../words/outcome-words.ts';
import type { UserRole } from '../store/people/user-store.ts';
import { latestReadings, type ReportedReading } from '../store/runs/run-store.ts';
import { knownKindName, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { decisionForms } from './parts/decisions.ts';
import { plotFigure } from './parts/drawings.ts';
import { sentence } from '../lib/text/text.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { lastReadWords, kindsPanel, readKindLines, stateBadge, type KindLine } from './parts/kinds.ts';
import { countCell, factList, nothing, pageTitle, panel } from './parts/layout.ts';
import { addPage, done, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';

const CHANGES_SHOWN = 20;
const READINGS_SHOWN = 200;

/** Adds the page that leads to every record kind, and that of each. */
export function addKindPages(app: Server, dashboard: Dashboard): void {
  const { session, kinds, clock } = dashboard;
  addPage(app, dashboard, { path: '/kinds', summary: 'Show every record kind' }, async (asked) => {
    const { say } = asked.reader;
    const lines = await readKindLines(dashboard, clock.now());
    const others = kinds.filter((kind) => !isListed(kind));
    const links = others.map((other) => html` <a href="/records/${other.name}">${other.name}</a>`);
    const content = html`${pageTitle(say('Kinds'), say('What the service keeps, and how well the mirror knows it'))}
    ${kindsPanel(lines, asked.reader)}
    ${links.length === 0 ? null : html`<p class="quiet">${say('Without a list, and read one by one: {kinds}', { kinds: html`${links}` })}</p>`}`;
    return { title: say('Kinds'), content };
  });
  const params = z.strictObject({ kind: knownKindName(kinds) });
  const querystring = z.object({ done });
  const page = { path: '/kinds/:kind', summary: 'Show one record kind', params, querystring };
  addPage(app, dashboard, page, async ({ caller, params: { kind: name }, reader }) => {
    const { say } = reader;
    const { name: kind } = requireKind(kinds, name);
    const line = (await readKindLines(dashboard, clock.now())).find((one) => one.kind === kind);
    if (line === undefined)
      throw new SyncError(`${kind} has no list: its records are read one by one.`, {
        code: 'record.unknown_kind',
        hint: `/records/${kind} shows those that were read.`,
      });
    const changes = await latestChanges(session, { kind, limit: CHANGES_SHOWN });
    const pushers = await pushersOf(session, changes);
    const readings = await latestReadings(session, kind, READINGS_SHOWN);
    const ways = html`<a href="/records/${kind}">${say('Records')}</a> ·
      <a href="/changes?kind=${kind}">${say('Changes')}</a>`;
    const all = html`<a href="/changes?kind=${kind}">${say('All of {kind}', { kind })}</a>`;
    const readingsHead = { id: 'readings', title: say('Latest readings of its list'), isLive: true };
    const changesHead = { id: 'changes', title: say('Latest changes'), note: all, isLive: true };
    const content = html`${pageTitle(kind, html`${stateBadge(reader, line)} ${ways}`)}
      <div class="columns">
        <div>
          ${standing(line, reader, caller?.role)} ${plots(line, readings, reader)}
          ${panel(readingsHead, readingTable(readings.slice(0, 12), reader))}
        </div>
        ${panel(changesHead, changes.length === 0 ? nothing(say('None yet.')) : changeList(changes, reader, pushers))}
      </div>`;
    return { title: kind, content, hasPlots: true };
  });
}

function standing(line: KindLine, reader: Reader, role?: UserRole): Html {
  const { kind, state, reason, certified_at: certified, last_change_at: changed, rows } = line;
  const { why, known, next } = outcomeWords({ state, reason }, reader);
  const { say, count, when, exactly } = reader;
  const words = [why, known].filter((text) => text !== null).map(sentence);
  const facts = factList([
    [say('Read to its end'), lastReadWords(line, reader)],
    [
      say('Proven (certificate)'),
      certified === null
        ? say('never')
        : html`${when(certified)} <span class="quiet small">${exactly(certified)}</span>`,
    ],
    [say('Live rows'), rows === null ? '…' : count(rows)],
    [say('Last change'), changed === null ? say('none seen') : when(changed)],
    [say('Held deletions'), linkedCount(reader, '/deletions', line.held_deletions)],
    [say('Open issues'), linkedCount(reader, `/issues?kind=${kind}`, line.open_issues)],
  ]);
  const pull = { label: say('Pull now'), about: kind, address: '/pulls', values: { kinds: kind } };
  return panel(
    { id: 'standing', title: say('How fresh, how sound'), isLive: true },
    html`<div class="body">
      <p>${words.join(' ')} ${next}</p>
      ${facts} ${decisionForms([pull], `/kinds/${kind}`, role)}
    </div>`,
  );
}

const linkedCount = (reader: Reader, address: string, number: number): Html | string =>
  number === 0 ? reader.say('none') : html`<a href="${address}">${reader.count(number)}</a>`;

const HOUR_MS = 3_600_000;

function plots(line: KindLine, readings: readonly ReportedReading[], reader: Reader): Html {
  const { say } = reader;
  const present = Math.floor(reader.now().getTime() / HOUR_MS) * HOUR_MS;
  const changes = Array.from({ length: line.hours === null ? 0 : 48 }, (_, index) => ({
    at: new Date(present - (47 - index) * HOUR_MS),
    value: line.hours?.[index] ?? 0,
  }));
  const whole = readings
    .filter((reading) => reading.state === 'certified' || reading.state === 'complete')
    .toReversed();
  const rows = whole.map((reading) => ({ at: instantOf(reading.startedAt), value: reading.rows }));
  const body = html`<div class="body">
    ${plotFigure({ id: 'changes', title: say('Changes an hour'), unit: say('changes'), shape: 'steps', points: changes }, reader)}
    <h3>${say('Rows in the list')}</h3>
    ${plotFigure({ id: 'rows', title: say('Rows in the list'), unit: say('rows'), shape: 'line', points: rows }, reader)}
  </div>`;
  const note = say(line.hours === null ? 'being counted' : 'the last 48 hours');
  return panel({ id: 'plots', title: say('Changes an hour'), note, isLive: false }, body);
}

function readingTable(readings: readonly ReportedReading[], reader: Reader): Html {
  const { say, sayEach, count, when, tenths } = reader;
  if (readings.length === 0) return nothing(say('It was never read.'));
  const rows = readings.map((reading) => {
    const changes = reading.created + reading.updated + reading.deleted + reading.restored;
    return html`<tr>
      <th scope="row">
        <a href="/runs/${reading.runId}">${say('run {id}', { id: reading.runId })}</a>
        ${stateBadge(reader, reading)}
      </th>
      <td class="nowrap early">${when(reading.startedAt)}</td>
      <td data-title="${say('pages')}" class="number wide">${count(reading.pages)}</td>
      ${countCell(reader, 'rows', reading.rows)} ${countCell(reader, 'changes', changes)}
      <td data-title="${say('requests')}" class="number wide">${count(reading.requests)}</td>
      <td data-title="${say('took')}" class="number wide">${tenths(reading.durationMs)}</td>
    </tr>`;
  });
  const numbers = sayEach('pages', 'rows', 'changes', 'requests', 'took');
  const caption = say('The latest readings of the list, the newest first');
  const headings = [...sayEach('run', 'began'), ...numbers.map((number) => ({ number }))];
  return dataTable(caption, headings, rows, 'cards');
}
