import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import type { RecordedChange } from '../feed/read-changes.ts';
import { SyncError } from '../lib/sync-error.ts';
import { instantOf } from '../lib/time/clock.ts';
import { latestReadings } from '../mirror/runs/run-store.ts';
import type { ReportedReading } from '../mirror/runs/run-store.ts';
import { kindName, requireKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { decisionForms } from './parts/decisions.ts';
import { plotFigure } from './parts/drawings.ts';
import { count, dataTable, exactly, html, sentence, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { freshness, readKindLines, stateBadge, stateWords } from './parts/kinds.ts';
import type { KindLine } from './parts/kinds.ts';
import { done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';

const CHANGES_SHOWN = 20;
const READINGS_SHOWN = 200;

/** Adds the page of a record kind. */
export function addKindPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds, clock, access } = dashboard;
  const params = z.strictObject({ kind: kindName(kinds) });
  const options = pageOptions('Show one record kind', { params, querystring: z.object({ done }) });
  app.get('/kinds/:kind', options, async ({ params: { kind: name }, query }, reply) => {
    const { name: kind } = requireKind(kinds, name);
    const now = clock.now();
    const line = (await readKindLines(dashboard, now)).find((one) => one.kind === kind);
    if (line === undefined)
      throw new SyncError(`${kind} has no list: its records are read one by one.`, {
        code: 'record.unknown_kind',
        hint: `/records/${kind} shows those that were read.`,
      });
    const after = await latestSeq(session);
    const content = kindPage({
      line,
      now,
      mayDecide: access.hasToken,
      changes: await latestChanges(session, { kind, limit: CHANGES_SHOWN }),
      readings: await latestReadings(session, kind, READINGS_SHOWN),
    });
    return sendPage(reply, { title: kind, part: '/', content, after, hasPlots: true, ...query });
  });
}

/** The facts of a kind's page. */
interface KindFacts {
  readonly line: KindLine;
  readonly changes: readonly RecordedChange[];
  /** The latest readings of its list, newest first. */
  readonly readings: readonly ReportedReading[];
  readonly now: Date;
  readonly mayDecide: boolean;
}

const HOUR_MS = 3_600_000;

/** One record kind: how fresh and how sound it is, its changes, and its latest readings. */
function kindPage({ line, changes, readings, now, mayDecide }: KindFacts): Html {
  const { kind } = line;
  return html`<div class="title">
      <h1>${kind}</h1>
      <p>
        ${stateBadge(line)} <a href="/records/${kind}">Records</a> ·
        <a href="/changes?kind=${kind}">Changes</a>
      </p>
    </div>
    <div class="columns">
      <div>
        ${standing(line, { now, mayDecide })} ${plots(line, readings, now)}
        <section class="panel" aria-labelledby="readings-title" id="readings" data-live>
          <header><h2 id="readings-title">Latest readings of its list</h2></header>
          ${readingTable(readings.slice(0, 12), now)}
        </section>
      </div>
      <section class="panel" aria-labelledby="changes-title" id="changes" data-live>
        <header>
          <h2 id="changes-title">Latest changes</h2>
          <p><a href="/changes?kind=${kind}">All of ${kind}</a></p>
        </header>
        ${changes.length === 0 ? html`<p class="none">None yet.</p>` : changeList(changes, now)}
      </section>
    </div>`;
}

function standing(line: KindLine, { now, mayDecide }: Pick<KindFacts, 'now' | 'mayDecide'>): Html {
  const { kind, certified_at: certified, last_change_at: changed, rows } = line;
  const { why, known, next } = stateWords(line);
  return html`<section class="panel" aria-labelledby="standing-title" id="standing" data-live>
    <header><h2 id="standing-title">How fresh, how sound</h2></header>
    <div class="body">
      <p>
        ${[why, known]
          .filter((text) => text !== null)
          .map(sentence)
          .join(' ')}
        ${next}
      </p>
      <dl class="facts">
        <dt>Read to its end</dt>
        <dd>${freshness(line, now)}</dd>
        <dt>Proven (certificate)</dt>
        <dd>
          ${certified === null ? 'never' : html`${when(certified, now)} <span class="quiet small">${exactly(certified)} UTC</span>`}
        </dd>
        <dt>Live rows</dt>
        <dd>${rows === null ? '…' : count(rows)}</dd>
        <dt>Last change</dt>
        <dd>${changed === null ? 'none seen' : when(changed, now)}</dd>
        <dt>Held deletions</dt>
        <dd>
          ${line.held_deletions === 0 ? 'none' : html`<a href="/deletions">${count(line.held_deletions)}</a>`}
        </dd>
        <dt>Open issues</dt>
        <dd>
          ${line.open_issues === 0 ? 'none' : html`<a href="/issues?kind=${kind}">${count(line.open_issues)}</a>`}
        </dd>
      </dl>
      ${mayDecide ? decisionForms([{ label: 'Pull now', about: kind, address: '/pulls', values: { kinds: kind } }], `/kinds/${kind}`) : null}
    </div>
  </section>`;
}

function plots({ hours }: KindLine, readings: readonly ReportedReading[], now: Date): Html {
  const present = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const changes = Array.from({ length: hours === null ? 0 : 48 }, (_, index) => ({
    at: new Date(present - (47 - index) * HOUR_MS),
    value: hours?.[index] ?? 0,
  }));
  const whole = readings.filter(({ state }) => state === 'certified' || state === 'complete').toReversed();
  const rows = whole.map(({ startedAt, rows: value }) => ({ at: instantOf(startedAt), value }));
  return html`<section class="panel" aria-labelledby="plots-title" id="plots">
    <header>
      <h2 id="plots-title">Changes an hour</h2>
      <p>${hours === null ? 'being counted' : 'the last 48 hours'}</p>
    </header>
    <div class="body">
      ${plotFigure({ id: 'changes', title: 'Changes an hour', unit: 'changes', shape: 'steps', points: changes })}
      <h3>Rows in the list</h3>
      ${plotFigure({ id: 'rows', title: 'Rows in the list', unit: 'rows', shape: 'line', points: rows })}
    </div>
  </section>`;
}

function readingTable(readings: readonly ReportedReading[], now: Date): Html {
  if (readings.length === 0) return html`<p class="none">It was never read.</p>`;
  const rows = readings.map(
    (reading) =>
      html`<tr>
        <th scope="row"><a href="/runs/${reading.runId}">run ${reading.runId}</a> ${stateBadge(reading)}</th>
        <td data-title="began" class="nowrap">${when(reading.startedAt, now)}</td>
        <td data-title="pages" class="number">${count(reading.pages)}</td>
        <td data-title="rows" class="number">${count(reading.rows)}</td>
        <td data-title="changes" class="number">${changesIn(reading)}</td>
        <td data-title="requests" class="number">${count(reading.requests)}</td>
        <td data-title="took" class="number">${(reading.durationMs / 1000).toFixed(1)} s</td>
      </tr>`,
  );
  return dataTable(
    {
      caption: 'The latest readings of the list, the newest first',
      headings: [
        'run',
        'began',
        ...['pages', 'rows', 'changes', 'requests', 'took'].map((number) => ({ number })),
      ],
      rows,
    },
    'cards',
  );
}

function changesIn({ created, updated, deleted, restored }: ReportedReading): string {
  const all = created + updated + deleted + restored;
  return all === 0 ? '–' : count(all);
}
