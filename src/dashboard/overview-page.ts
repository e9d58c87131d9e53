import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import { readBlocks } from '../mirror/outbox/outbox-queue.ts';
import { countEntries, listEntries } from '../mirror/outbox/outbox-store.ts';
import { readDisappeared } from '../mirror/records/deletion-store.ts';
import { readDamage } from '../mirror/integrity-check.ts';
import { listEndpoints } from '../mirror/webhooks/endpoint-store.ts';
import { STATES } from '../outbound/decisions/entry-list.ts';
import { readFrozen } from '../mirror/outbox/freeze-store.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { decisionForms } from './parts/decisions.ts';
import { count, counted, html, when } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { kindsPanel, readKindLines } from './parts/kinds.ts';
import type { KindLine } from './parts/kinds.ts';
import { needsYou } from './parts/needs.ts';
import type { Need } from './parts/needs.ts';
import { done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { readRuns, runTable } from './parts/runs.ts';

/** Adds the first page. */
export function addOverviewPage(app: Server, dashboard: Dashboard): void {
  const summary = 'Show what needs a person, and how every kind stands';
  const options = pageOptions(summary, { querystring: z.object({ done }) });
  app.get('/', options, async ({ query }, reply) => {
    const overview = await readOverview(dashboard);
    const content = overviewPage(overview, dashboard.access.hasToken);
    return sendPage(reply, { title: 'Overview', part: '/', content, after: overview.latest, ...query });
  });
}

const CHANGES_SHOWN = 14;
const RUNS_SHOWN = 6;
const PARKED_SHOWN = 5;

/** Reads the facts of the overview. */
async function readOverview(dashboard: Dashboard) {
  const { session, clock } = dashboard;
  const now = clock.now();
  const latest = await latestSeq(session);
  const [kinds, outbox, changes, runs] = await Promise.all([
    readKindLines(dashboard, now),
    countEntries(session),
    latestChanges(session, { limit: CHANGES_SHOWN }),
    readRuns(dashboard, { limit: RUNS_SHOWN }),
  ]);
  const needs = await readNeeds(dashboard, kinds, outbox.parked ?? 0);
  return { now, database: session.location, latest, kinds, outbox, needs, changes, runs };
}

type Overview = Awaited<ReturnType<typeof readOverview>>;

async function readNeeds(
  { session }: Dashboard,
  kinds: readonly KindLine[],
  parkedInAll: number,
): Promise<readonly Need[]> {
  const [disappeared, damage, frozen, parked, blocks, endpoints] = await Promise.all([
    readDisappeared(session),
    readDamage(session),
    readFrozen(session),
    parkedInAll === 0 ? [] : listEntries(session, { states: ['parked'], limit: PARKED_SHOWN }),
    readBlocks(session),
    listEndpoints(session),
  ]);
  const held = disappeared.filter(({ state }) => state === 'held');
  return needsYou({ kinds, held, parked, parkedInAll, damage, frozen, blocks, endpoints });
}

/** The first page: what needs a person, then how each kind stands, then what happened. */
function overviewPage(overview: Overview, mayDecide: boolean): Html {
  const { now, database, kinds, changes, runs } = overview;
  return html`<div class="title">
      <h1>Overview</h1>
      <p>Mirror: ${database}</p>
    </div>
    ${needsPanel(overview, mayDecide)} ${tiles(overview)}
    <div class="columns">
      <div>
        ${kindsPanel(kinds, now)}
        <section class="panel" aria-labelledby="runs-title" id="runs" data-live>
          <header>
            <h2 id="runs-title">Latest runs</h2>
            <p><a href="/runs">All runs</a></p>
          </header>
          ${runTable(runs, now)}
        </section>
      </div>
      <section class="panel" aria-labelledby="changes-title" id="changes" data-live>
        <header>
          <h2 id="changes-title">Latest changes</h2>
          <p><a href="/changes">All changes</a></p>
        </header>
        ${
          changes.length === 0
            ? html`<p class="none">No change yet: the first pull is the baseline.</p>`
            : changeList(changes, now)
        }
      </section>
    </div>`;
}

function needsPanel({ needs, kinds, now }: Overview, mayDecide: boolean): Html {
  if (needs.length === 0) return calmPanel(kinds, now);
  return html`<section class="panel" aria-labelledby="needs-title" id="needs" data-live>
    <header>
      <h2 id="needs-title">Needs you</h2>
      <p>
        ${
          mayDecide
            ? counted(needs.length, 'thing')
            : 'To decide here, serve needs an ADMIN_TOKEN; the command line can decide, too.'
        }
      </p>
    </header>
    <ul class="needs">
      ${needs.map((need) => needItem(need, { now, mayDecide }))}
    </ul>
  </section>`;
}

function needItem(need: Need, { now, mayDecide }: { readonly now: Date; readonly mayDecide: boolean }): Html {
  const { id, title, address, why, effect, since, isGrave, buttons } = need;
  return html`<li id="need-${id}" ${isGrave ? html`class="grave"` : null}>
    <div>
      <h3>${address === undefined ? title : html`<a href="${address}">${title}</a>`}</h3>
      <p>${why} ${since === null ? null : html`<span class="quiet">${when(since, now)}</span>`}</p>
      <p class="quiet small">${effect}</p>
    </div>
    ${mayDecide ? decisionForms(buttons, '/') : null}
  </li>`;
}

function calmPanel(kinds: Overview['kinds'], now: Date): Html {
  const [oldest] = kinds.map(({ certified_at: at }) => at ?? '').sort();
  const proof =
    oldest === undefined || oldest === ''
      ? html`Not every list is proven yet; the next pulls go on with that.`
      : html`Every list was proven ${when(oldest, now)} or later.`;
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

function tiles({ kinds, outbox }: Overview): Html {
  const rows = sumOf(kinds.map((line) => line.rows));
  const changes = sumOf(kinds.flatMap(({ hours }) => hours?.slice(-24) ?? [null]));
  const open = STATES.slice(0, -2).reduce((all, state) => all + (outbox[state] ?? 0), 0);
  const rejected = outbox.rejected ?? 0;
  const unsettled = outbox.unsettled ?? 0;
  const tile = (address: string, number: number | null, words: string): Html =>
    html`<li>
      <strong>${number === null ? '…' : count(number)}</strong><span><a href="${address}">${words}</a></span>
    </li>`;
  return html`<ul class="tiles" id="tiles" data-live>
    ${tile('#kinds', rows, 'live rows')} ${tile('/changes', changes, 'changes in 24 hours')}
    ${tile('/outbox?state=open', open, 'open in the outbox')}
    ${tile('/outbox?state=unsettled', unsettled, 'with an unknown outcome')}
    ${tile('/outbox?state=rejected', rejected, 'refused by the service')}
  </ul>`;
}

/** Null where one of the numbers is not known yet. */
const sumOf = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((all, number) => (all === null || number === null ? null : all + number), 0);
