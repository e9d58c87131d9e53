import { readLatestChanges } from '../events/read-changes.ts';
import { countEntries, pushersOf, type EntryState } from '../store/outbox/outbox-store.ts';
import { ENTRY_STATES } from '../outbound/decisions/entry-list.ts';
import { changeList } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import { describeFailing } from '../checks/status.ts';
import { kindLabel } from '../catalog/descriptions.ts';
import { readFailing } from '../store/kinds/status-store.ts';
import { READ_AGAIN } from '../words/outcome-texts.ts';
import { dueWords, kindsPanel, readKindLines, type KindLine } from './parts/kinds.ts';
import { needsPanel, readNeedCards } from './parts/needs.ts';
import { emptyNote, panel, tile } from './parts/layout.ts';
import { pageAt } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';

const CHANGES_SHOWN = 8;

const route = { path: '/', summary: 'Show what needs a person, and how every kind stands' };

export const addOverviewPage = pageAt(route, async (dashboard, { user, reader }) => {
  const { session, clock } = dashboard;
  const { t } = reader;
  const [kinds, outbox, changes] = await Promise.all([
    readKindLines(dashboard, clock.now()),
    countEntries(session),
    readLatestChanges(session, { limit: CHANGES_SHOWN }),
  ]);
  const stale = kinds.filter((kind) => kind.isStale);
  const staleKinds = stale.map((line) => ({ kind: line.kind, since: line.lastSweepAt }));
  const needs = await readNeedCards(dashboard, staleKinds, user, reader);
  const none = emptyNote(t('No change yet: the first pull is the baseline.'));
  const latest = changes.length === 0 ? none : changeList(changes, reader, await pushersOf(session, changes));
  const allChanges = html`<a href="/changes">${t('All changes')}</a>`;
  const location = html`<span translate="no">${session.location}</span>`;
  const content = html`${needs.length === 0 ? calmPanel(kinds, await readFailing(session), reader) : needsPanel(needs, reader, user?.role)}
    ${tiles(reader, kinds, outbox)}
    <div class="columns">
      ${kindsPanel(kinds, reader)}
      ${panel({ id: 'changes', title: t('Latest changes'), note: allChanges, isLive: true }, latest)}
    </div>`;
  return { title: t('Overview'), about: t('Mirror: {location}', { location }), content };
});

function calmPanel(
  kinds: readonly KindLine[],
  failures: Awaited<ReturnType<typeof readFailing>>,
  reader: Reader,
): Html {
  const { t, when } = reader;
  const pulls = kinds.map(({ kind, nextAt: at }) => ({ kind, at }));
  const failing = describeFailing(failures, pulls, reader).map(({ kinds, why, since, next }) => {
    const values = { kinds: kinds.map((name) => kindLabel(reader, name)).join(', '), why };
    return html`<p class="quiet">
      ${t(READ_AGAIN, { ...values, first: when(since), next: dueWords(next, reader) })}
    </p>`;
  });
  return html`<section class="panel" aria-labelledby="needs-title" id="needs" data-live>
    <div class="calm">
      <span class="mark" aria-hidden="true"></span>
      <div>
        <h2 id="needs-title">${t('Nothing needs you')}</h2>
        ${failing}
      </div>
    </div>
  </section>`;
}

function tiles(
  reader: Reader,
  kinds: readonly KindLine[],
  outbox: Partial<Record<EntryState, number>>,
): Html {
  const { t } = reader;
  const rows = sumOf(kinds.map((line) => line.rows));
  const changes = sumOf(kinds.flatMap((kind) => kind.hours?.slice(-24) ?? [null]));
  const open = ENTRY_STATES.slice(0, -2).reduce((all, state) => all + (outbox[state] ?? 0), 0);
  return html`<ul class="tiles" id="tiles" data-live>
    ${tile(reader, '#kinds', rows, t('live rows'))}
    ${tile(reader, '/changes', changes, t('changes in 24 hours'))}
    ${tile(reader, '/outbox?state=open', open, t('open in the outbox'))}
    ${tile(reader, '/outbox?state=unsettled', outbox.unsettled ?? 0, t('with an unknown outcome'))}
  </ul>`;
}

/** Null where one of the numbers is not known yet. */
const sumOf = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((all, number) => (all === null || number === null ? null : all + number), 0);
