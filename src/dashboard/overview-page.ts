import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import { countEntries } from '../mirror/outbox/outbox-store.ts';
import type { EntryState } from '../mirror/outbox/outbox-store.ts';
import { STATES } from '../outbound/decisions/entry-list.ts';
import type { UserRole } from '../mirror/people/user-store.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { decisionForms } from './parts/decisions.ts';
import { counted, html } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { kindsPanel, readKindLines } from './parts/kinds.ts';
import type { KindLine } from './parts/kinds.ts';
import { readNeeds } from './parts/needs.ts';
import type { Need } from './parts/needs.ts';
import { nothing, pageTitle, panel, tile } from './parts/layout.ts';
import { done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { readRuns, runTable } from './parts/runs.ts';

const CHANGES_SHOWN = 14;
const RUNS_SHOWN = 6;

/** Adds the first page: what needs a person, then how each kind stands, then what happened. */
export function addOverviewPage(app: Server, dashboard: Dashboard): void {
  const { session, clock, readerOf } = dashboard;
  const summary = 'Show what needs a person, and how every kind stands';
  const options = pageOptions(summary, { querystring: z.object({ done }) });
  app.get('/', options, async ({ caller, query }, reply) => {
    const reader = readerOf(reply.request);
    const after = await latestSeq(session);
    const [kinds, outbox, changes, runs] = await Promise.all([
      readKindLines(dashboard, clock.now()),
      countEntries(session),
      latestChanges(session, { limit: CHANGES_SHOWN }),
      readRuns(dashboard, { limit: RUNS_SHOWN }),
    ]);
    const needs = await readNeeds(session, kinds, outbox.parked ?? 0, reader);
    const none = nothing('No change yet: the first pull is the baseline.');
    const latest = changes.length === 0 ? none : changeList(changes, reader);
    const allRuns = html`<a href="/runs">All runs</a>`;
    const allChanges = html`<a href="/changes">All changes</a>`;
    const content = html`${pageTitle('Overview', `Mirror: ${session.location}`)}
      ${needs.length === 0 ? calmPanel(kinds, reader) : needsPanel(needs, reader, caller?.role)}
      ${tiles(kinds, outbox)}
      <div class="columns">
        <div>
          ${kindsPanel(kinds, reader)}
          ${panel({ id: 'runs', title: 'Latest runs', note: allRuns, isLive: true }, runTable(runs, reader))}
        </div>
        ${panel({ id: 'changes', title: 'Latest changes', note: allChanges, isLive: true }, latest)}
      </div>`;
    return sendPage(reply, { title: 'Overview', part: '/', content, after, ...query });
  });
}

function needsPanel(needs: readonly Need[], reader: Reader, role?: UserRole): Html {
  const note =
    role === 'viewer'
      ? 'An operator decides here; without an ADMIN_TOKEN, only the command line does.'
      : counted(needs.length, 'thing');
  const items = needs.map((need) => {
    const { id, title, address, why, effect, since = null, isGrave = false, buttons = [] } = need;
    return html`<li id="need-${id}" ${isGrave ? html`class="grave"` : null}>
      <div>
        <h3>${address === undefined ? title : html`<a href="${address}">${title}</a>`}</h3>
        <p>${why} ${since === null ? null : html`<span class="quiet">${reader.when(since)}</span>`}</p>
        <p class="quiet small">${effect}</p>
      </div>
      ${decisionForms(buttons, '/', role)}
    </li>`;
  });
  const list = html`<ul class="needs">
    ${items}
  </ul>`;
  return panel({ id: 'needs', title: 'Needs you', note, isLive: true }, list);
}

function calmPanel(kinds: readonly KindLine[], reader: Reader): Html {
  const [oldest] = kinds.map(({ certified_at: at }) => at ?? '').sort();
  const proof =
    oldest === undefined || oldest === ''
      ? html`Not every list is proven yet; the next pulls go on with that.`
      : html`Every list was proven ${reader.when(oldest)} or later.`;
  return html`<section class="panel" aria-labelledby="needs-title" id="needs" data-live>
    <div class="calm">
      <span class="mark" aria-hidden="true">✓</span>
      <div>
        <h2 id="needs-title">Nothing needs you</h2>
        <p class="quiet">${proof}</p>
      </div>
    </div>
  </section>`;
}

function tiles(kinds: readonly KindLine[], outbox: Partial<Record<EntryState, number>>): Html {
  const rows = sumOf(kinds.map((line) => line.rows));
  const changes = sumOf(kinds.flatMap(({ hours }) => hours?.slice(-24) ?? [null]));
  const open = STATES.slice(0, -2).reduce((all, state) => all + (outbox[state] ?? 0), 0);
  return html`<ul class="tiles" id="tiles" data-live>
    ${tile('#kinds', rows, 'live rows')} ${tile('/changes', changes, 'changes in 24 hours')}
    ${tile('/outbox?state=open', open, 'open in the outbox')}
    ${tile('/outbox?state=unsettled', outbox.unsettled ?? 0, 'with an unknown outcome')}
    ${tile('/outbox?state=rejected', outbox.rejected ?? 0, 'refused by the service')}
  </ul>`;
}

/** Null where one of the numbers is not known yet. */
const sumOf = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((all, number) => (all === null || number === null ? null : all + number), 0);
