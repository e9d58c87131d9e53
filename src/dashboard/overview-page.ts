import { readLatestChanges } from '../events/read-changes.ts';
import { countEntries, pushersOf, type EntryState } from '../store/outbox/outbox-store.ts';
import { ENTRY_STATES } from '../outbound/decisions/entry-list.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import { sentence } from '../lib/text/text.ts';
import { describeFailing } from '../checks/status.ts';
import { readFailing } from '../store/kinds/status-store.ts';
import { kindLabel } from '../catalog/descriptions.ts';
import { READ_AGAIN, describeOutcome } from '../words/outcome-texts.ts';
import { countedWords, dueWords, kindsPanel, readKindLines, type KindLine } from './parts/kinds.ts';
import { needsPanel, readNeedCards } from './parts/needs.ts';
import { emptyNote, pageTitle, panel, tile } from './parts/layout.ts';
import { addPage, type Dashboard } from './parts/page.ts';
import type { MessageKey } from '../lib/text/translator.ts';
import type { Reader } from './parts/reader.ts';

const CHANGES_SHOWN = 14;

export function addOverviewPage(app: Server, dashboard: Dashboard): void {
  const { session, clock } = dashboard;
  const summary = 'Show what needs a person, and how every kind stands';
  const page = { path: '/', summary };
  addPage(app, dashboard, page, async ({ user, reader }) => {
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
    const latest =
      changes.length === 0 ? none : changeList(changes, reader, await pushersOf(session, changes));
    const allChanges = html`<a href="/changes">${t('All changes')}</a>`;
    const location = html`<span translate="no">${session.location}</span>`;
    const content = html`${pageTitle(t('Overview'), t('Mirror: {location}', { location }))}
      ${needs.length === 0 ? calmPanel(kinds, await readFailing(session), reader) : needsPanel(needs, reader, user?.role)}
      ${tiles(reader, kinds, outbox)}
      <div class="columns">
        ${kindsPanel(kinds, reader)}
        ${panel({ id: 'changes', title: t('Latest changes'), note: allChanges, isLive: true }, latest)}
      </div>`;
    return { title: t('Overview'), content };
  });
}

function calmPanel(
  kinds: readonly KindLine[],
  failures: Awaited<ReturnType<typeof readFailing>>,
  reader: Reader,
): Html {
  const { t, when } = reader;
  const [oldest] = kinds.map((kind) => kind.certifiedAt ?? '').sort();
  const unread = kinds.filter((kind) => kind.lastSweepAt === null).length;
  const uncertified = kinds.filter((kind) => kind.state !== 'certified');
  const ends = uncertified.map((kind) => ({ ...describeOutcome(kind, reader), ...kind }));
  const [next = null] = uncertified.flatMap((kind) => kind.nextAt ?? []).sort();
  const pulls = kinds.map(({ kind, nextAt: at }) => ({ kind, at }));
  const failing = describeFailing(failures, pulls, reader);
  const isSettled = unread === 0 && ends.every(({ next }) => next === null);
  const beingRead = uncertified.filter((kind) => kind.state === 'running').length;
  const proof =
    failing !== null
      ? t(READ_AGAIN, { why: failing.why, first: when(failing.since), next: dueWords(failing.next, reader) })
      : unread === 0 && beingRead > 0 && beingRead === uncertified.length
        ? t(READING, { n: beingRead })
        : oldest === undefined || uncertified.length > 0
          ? isSettled
            ? sentence(ends.map(({ kind, why }) => `${kindLabel(reader, kind)}: ${why ?? ''}`).join('; '))
            : t(UNCERTIFIED, { unread, next: dueWords(next, reader) })
          : t('All lists are certified (oldest certificate: {when}).', { when: when(oldest) });
  return html`<section class="panel" aria-labelledby="needs-title" id="needs" data-live>
    <div class="calm">
      <span class="mark" aria-hidden="true"></span>
      <div>
        <h2 id="needs-title">${t('Nothing needs you')}</h2>
        <p class="quiet">${proof}</p>
      </div>
    </div>
  </section>`;
}

const READING: MessageKey =
  '{n, plural, one {# list is} other {# lists are}} being read now; all others are certified.';

const UNCERTIFIED: MessageKey =
  '{unread, plural, =0 {Some lists are not certified yet} one {# list was never read to its end} other {# lists were never read to their end}} ({next}).';

function tiles(
  reader: Reader,
  kinds: readonly KindLine[],
  outbox: Partial<Record<EntryState, number>>,
): Html {
  const { t } = reader;
  const rows = sumOf(kinds.map((line) => line.rows));
  const changes = sumOf(kinds.flatMap((kind) => kind.hours?.slice(-24) ?? [null]));
  const counted = countedWords(kinds, reader);
  const open = ENTRY_STATES.slice(0, -2).reduce((all, state) => all + (outbox[state] ?? 0), 0);
  return html`<ul class="tiles" id="tiles" data-live>
    ${tile(reader, '#kinds', rows, html`${t('live rows')} ${counted}`)}
    ${tile(reader, '/changes', changes, html`${t('changes in 24 hours')} ${counted}`)}
    ${tile(reader, '/outbox?state=open', open, t('open in the outbox'))}
    ${tile(reader, '/outbox?state=unsettled', outbox.unsettled ?? 0, t('with an unknown outcome'))}
    ${tile(reader, '/outbox?state=rejected', outbox.rejected ?? 0, t('refused by the service'))}
  </ul>`;
}

/** Null where one of the numbers is not known yet. */
const sumOf = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((all, number) => (all === null || number === null ? null : all + number), 0);
