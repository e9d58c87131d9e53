import * as z from 'zod';
import { latestSeq } from '../mirror/records/change-store.ts';
import { instantOf } from '../lib/time/clock.ts';
import { HOLD_WORDS, idsShown, readDisappeared } from '../mirror/records/deletion-store.ts';
import type { ShownHold } from '../mirror/records/deletion-store.ts';
import type { Server } from '../http/server.ts';
import { recordAddress } from './parts/change-list.ts';
import { decisionForms, HOLD_EFFECTS, holdButtons } from './parts/decisions.ts';
import { counted, html, roughly } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { badge, listPanel, nothing, pageTitle } from './parts/layout.ts';
import { done, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';

/** Adds the page of records that their lists no longer show, and that are not proven to be gone. */
export function addDeletionsPage(app: Server, { session, clock, access }: Dashboard): void {
  const options = pageOptions('Show records that disappeared', { querystring: z.object({ done }) });
  app.get('/deletions', options, async ({ query }, reply) => {
    const groups = await readDisappeared(session);
    const none = 'None. A record is deleted in the mirror once the service has proven that it is gone.';
    const items = groups.map((group) => groupItem(group, clock.now(), access.hasToken));
    const list = html`<ul class="needs">
      ${items}
    </ul>`;
    const about = 'Records that their lists no longer show, and that are still in the mirror';
    const content = html`${pageTitle('Deletions', about)}
    ${listPanel('deletions', 'Disappeared records', true, items.length === 0 ? nothing(none) : list)}`;
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Deletions', part: '/deletions', content, after, ...query });
  });
}

const TONES = { suspected: 'info', held: 'warn', approved: 'good', released: 'good' };
const LINKS_SHOWN = 10;

function groupItem(group: ShownHold, now: Date, mayDecide: boolean): Html {
  const { kind, state, records, since, ids } = group;
  const isHeld = state === 'held';
  // The words of the command line, without its command.
  const words = isHeld ? 'they stay until somebody decides' : (HOLD_WORDS[state] ?? state);
  const links = ids.slice(0, LINKS_SHOWN).map((id) => html`<a href="${recordAddress(kind, id)}">${id}</a> `);
  const more = records - Math.min(ids.length, LINKS_SHOWN);
  return html`<li id="hold-${kind}-${state}" class="${isHeld ? '' : 'settled'}">
    <div>
      <h2>
        ${counted(records, 'record')} of <a href="/kinds/${kind}">${kind}</a>
        ${badge(state, TONES)}
      </h2>
      <p>Missing for ${roughly(now.getTime() - instantOf(since).getTime())}: ${words}.</p>
      <p class="small" title="${idsShown(group)}">${links} ${more > 0 ? `and ${more} more` : null}</p>
      ${state === 'suspected' ? null : html`<p class="quiet small">${HOLD_EFFECTS}</p>`}
    </div>
    ${mayDecide && state !== 'suspected' ? decisionForms(holdButtons(kind), '/deletions') : null}
  </li>`;
}
