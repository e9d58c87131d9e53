import * as z from 'zod';
import { instantOf } from '../lib/time/clock.ts';
import { readDisappeared, readHeldRecords, type ShownHold } from '../store/records/deletion-store.ts';
import { HOLD_WORDS, heldBecause } from '../words/holds.ts';
import { recordIdText } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { recordName } from '../store/records/record-name.ts';
import { recordAddress } from './parts/change-list.ts';
import { decisionForms, holdButtons, holdEffects } from './parts/decisions.ts';
import { sentence } from '../lib/text/text.ts';
import { html, type Html } from '../http/html.ts';
import { badge, listPanel, nothing, pageTitle } from './parts/layout.ts';
import { addPage, chosen, done, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { linkTo } from './parts/paging.ts';

const PATH = '/deletions';
/** Records of a group in its box; the next ones are a link away. */
const RECORDS_SHOWN = 500;

/** Adds the page of records that their lists no longer show, and that are not proven to be gone. */
export function addDeletionsPage(app: Server, dashboard: Dashboard): void {
  const querystring = z.object({ kind: chosen, state: chosen, after: recordIdText.optional(), done });
  const page = { path: PATH, summary: 'Show records that disappeared', querystring };
  addPage(app, dashboard, page, async (asked) => {
    const { caller, query, reader } = asked;
    const { session } = dashboard;
    const { say } = reader;
    const { kind, state, after: from } = query;
    const all = await readDisappeared(session);
    const items: Html[] = [];
    for (const group of all) {
      if (kind !== undefined && (group.kind !== kind || group.state !== state)) continue;
      const records = await readHeldRecords(session, group, { after: from, limit: RECORDS_SHOWN + 1 });
      // A decision concerns what is held; without it, what was decided last.
      const [first] = all.filter((one) => one.kind === group.kind && one.state === 'held');
      const buttons = (first ?? group) === group ? holdButtons(reader, group) : [];
      const forms = decisionForms(buttons, PATH, caller?.role);
      items.push(groupItem(group, reader, recordList(group, records, reader), forms));
    }
    const none = say('None. A record is deleted in the mirror once the service has proven that it is gone.');
    const list = html`<ul class="needs">
      ${items}
    </ul>`;
    const about = say('Records that their lists no longer show, and that are still in the mirror');
    const content = html`${pageTitle(say('Deletions'), about)}
    ${listPanel('deletions', say('Disappeared records'), true, items.length === 0 ? nothing(none) : list)}`;
    return { title: say('Deletions'), content };
  });
}

const TONES = { suspected: 'info', held: 'warn', approved: 'good', released: 'good' };

function groupItem(hold: ShownHold, reader: Reader, list: Html, decisions: Html): Html {
  const { kind, state, records, since } = hold;
  const isHeld = state === 'held';
  // The words of the command line, without its command.
  const { say } = reader;
  const words = isHeld ? 'they stay until somebody decides' : HOLD_WORDS[state];
  const time = reader.lasting(reader.now().getTime() - instantOf(since).getTime());
  const because = heldBecause(hold.why ?? null);
  const link = html`<a href="/kinds/${kind}">${kind}</a>`;
  return html`<li id="hold-${kind}-${state}" class="stacked ${isHeld ? '' : 'settled'}">
    <div>
      <h2>
        ${say('{n, plural, one {# record} other {# records}} of {kind}', { n: records, kind: link })}
        ${badge(reader, state, TONES)}
      </h2>
      <p>${say('Missing for {time}: {words}.', { time, words: words === undefined ? state : say(words) })}</p>
      ${because === null ? null : html`<p>${sentence(say(because))}</p>`} ${list}
      ${state === 'suspected' ? null : html`<p class="quiet small">${holdEffects(reader)}</p>`}
    </div>
    ${decisions}
  </li>`;
}

/** Each record by its code and name, in a box that scrolls. */
type HeldRecords = Awaited<ReturnType<typeof readHeldRecords>>;

function recordList(hold: ShownHold, records: HeldRecords, reader: Reader): Html {
  const { say, word } = reader;
  const { kind, state } = hold;
  const shown = records.slice(0, RECORDS_SHOWN);
  const items = shown.map((row) => {
    const way = html`<a href="${recordAddress(kind, row.id)}"
      >${recordName(row.raw) || say('without a name')}</a
    >`;
    return html`<li translate="no">${way} <span class="quiet small">${row.id}</span></li>`;
  });
  const next = linkTo(PATH, { kind, state, after: shown.at(-1)?.id });
  const label = say('Records of {kind}, {state}', { kind, state: word(state) });
  return html`<ol class="box" tabindex="0" aria-label="${label}">
      ${items}
    </ol>
    ${records.length > shown.length ? html`<p><a rel="next" href="${next}">${say('The next records')}</a></p>` : null}`;
}
