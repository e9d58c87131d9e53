import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { readDisappeared, readHeldRecords, type ShownHold } from '../store/records/deletion-store.ts';
import { HOLD_WORDS, heldBecause } from '../words/holds.ts';
import { filterValue, recordIdText } from '../operations/inputs.ts';
import { recordName } from '../store/records/record-name.ts';
import { recordAddress } from './parts/change-list.ts';
import { decisionForms, holdButtons, holdEffects } from './parts/decisions.ts';
import { sentence } from '../lib/text/text.ts';
import { html, type Html } from '../http/html.ts';
import { badge, emptyNote, link, listPanel } from './parts/layout.ts';
import { pageAt } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo } from './parts/paging.ts';

const PATH = '/deletions';
/** Records of a group in its box; the next ones are a link away. */
const RECORDS_SHOWN = 500;

const querystring = z.object({ kind: filterValue, state: filterValue, after: recordIdText.optional() });
const route = { path: PATH, summary: 'Show records that disappeared', querystring };

export const addDeletionsPage = pageAt(route, async ({ session }, { user, query, reader }) => {
  const { t } = reader;
  const { kind, state, after: from } = query;
  const all = await readDisappeared(session);
  const items: Html[] = [];
  for (const group of all) {
    if (kind !== undefined && (group.kind !== kind || group.state !== state)) continue;
    const records = await readHeldRecords(session, group, { after: from, limit: RECORDS_SHOWN + 1 });
    // A decision concerns the held records of a kind; if none are held, the ones that were decided.
    const held = all.find((other) => other.kind === group.kind && other.state === 'held');
    const buttons = held === undefined || held === group ? holdButtons(reader, group) : [];
    const forms = decisionForms(buttons, PATH, user?.role);
    items.push(groupItem(group, reader, recordList(group, records, reader), forms));
  }
  const none = t('None. A record is marked as deleted once the service proves that it is gone.');
  const list = html`<ul class="needs">
    ${items}
  </ul>`;
  const about = t('Records that are still in the mirror but no longer in their lists');
  const content = items.length === 0 ? emptyNote(none) : list;
  const shown = listPanel('deletions', t('Disappeared records'), true, content);
  return { title: t('Deletions'), about, content: shown };
});

function groupItem(hold: ShownHold, reader: Reader, list: Html, decisions: Html): Html {
  const { kind, state, records, since } = hold;
  const isHeld = state === 'held';
  // The words of the command line, without its command.
  const { t } = reader;
  const words = isHeld ? 'they stay until somebody decides' : HOLD_WORDS[state];
  const ms = reader.now().getTime() - parseInstant(since).getTime();
  const values = { n: records, time: reader.durationText(ms), words: words === undefined ? state : t(words) };
  const { why = null } = hold;
  const link = html`<a href="/kinds/${kind}" title="${kind}">${kindLabel(reader, kind)}</a>`;
  return html`<li id="hold-${kind}-${state}" class="stacked ${isHeld ? '' : 'settled'}">
    <div>
      <h2>
        ${t('{n, plural, one {# record} other {# records}} of {kind}', { n: records, kind: link })}
        ${badge(reader, state)}
      </h2>
      <p>${t('{n, plural, one {Missing} other {The first missing}} for {time}: {words}.', values)}</p>
      ${isHeld || why !== null ? html`<p>${sentence(heldBecause(why, reader))}</p>` : null} ${list}
      ${state === 'suspected' ? null : html`<p class="quiet small">${holdEffects(reader)}</p>`}
    </div>
    ${decisions}
  </li>`;
}

type HeldRecords = Awaited<ReturnType<typeof readHeldRecords>>;

function recordList(hold: ShownHold, records: HeldRecords, reader: Reader): Html {
  const { t, term } = reader;
  const { kind, state } = hold;
  const shown = records.slice(0, RECORDS_SHOWN);
  const items = shown.map((row) => {
    const way = link(recordAddress(kind, row.id), recordName(row.raw) || t('without a name'));
    return html`<li translate="no">${way} <span class="quiet small">${row.id}</span></li>`;
  });
  const next = linkTo(PATH, { kind, state, after: shown.at(-1)?.id });
  const label = t('Records of {kind}, {state}', { kind: kindLabel(reader, kind), state: term(state) });
  return html`<ol class="box" tabindex="0" aria-label="${label}">
      ${items}
    </ol>
    ${records.length > shown.length ? html`<p><a rel="next" href="${next}">${t('The next records')}</a></p>` : null}`;
}
