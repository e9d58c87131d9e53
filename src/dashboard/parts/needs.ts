import { kindLabel } from '../../catalog/descriptions.ts';
import { html, type Html, type Part } from '../../http/html.ts';
import type { RequestUser } from '../../http/access.ts';
import { readHistory, type EntryHistory } from '../../outbound/decisions/entry-list.ts';
import { readNeeds, type Need, type StaleKind } from '../../needs/read-needs.ts';
import { readRecordNames } from '../../needs/record-names.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { hasLiveRole } from '../../store/runs/worker-store.ts';
import { isRoleAllowed, type UserRole } from '../../store/users/user-store.ts';
import { needWords, type NeedWords, type Quoted } from '../../words/needs.ts';
import {
  decisionForms,
  endpointButtons,
  endpointEffects,
  entryButtons,
  entryEffects,
  holdButtons,
  holdEffects,
  type DecisionButton,
} from './decisions.ts';
import { panel } from './layout.ts';
import type { Dashboard } from './page.ts';
import type { Reader } from './reader.ts';

interface NeedCard extends NeedWords {
  readonly buttons: readonly DecisionButton[];
  /** All sends are paused, or the mirror may show wrong data. */
  readonly isGrave?: boolean;
  readonly technical?: string;
}

/** Reads everything that needs a person, with the decisions on it. @param stale The kinds that are stale by their schedules. */
export async function readNeedCards(
  dashboard: Dashboard,
  stale: readonly StaleKind[],
  user: RequestUser | null,
  reader: Reader,
): Promise<readonly NeedCard[]> {
  const { session, kinds } = dashboard;
  const cards: NeedCard[] = [];
  const more = await dashboard.needsOfFeatures(session, kinds, { ...dashboard, user });
  const isSending = await hasLiveRole(session, 'outbound');
  for (const need of await readNeeds(session, stale, { isSending, more })) {
    const names = await readRecordNames(session, need);
    const history = need.type === 'entry.parked' ? await readHistory(dashboard, need.facts.entryId) : null;
    const words = needWords(withResult(need, history?.entry ?? null), reader, names);
    const isGrave = need.type === 'mirror.damaged' || need.type === 'outbox.frozen';
    const technical = technicalNames(need.facts);
    cards.push({ ...words, isGrave, technical, ...decisionsOn(need, history, reader) });
  }
  return cards;
}

const technicalNames = (facts: Need['facts']): string =>
  'kinds' in facts ? facts.kinds.join(', ') : 'kind' in facts ? facts.kind : '';

/** The entry's note may hold content of a record, so the need does not include it. */
const withResult = (need: Need, entry: Entry | null) =>
  need.type === 'entry.parked' && entry !== null
    ? { type: need.type, facts: { ...need.facts, settlement: entry.settlement } }
    : need;

/** The buttons of a need, and their effects where its words do not say them. */
function decisionsOn({ type, facts }: Need, history: EntryHistory | null, reader: Reader): Decisions {
  const { t } = reader;
  if (history !== null)
    return { buttons: entryButtons(reader, history), effect: entryEffects(reader, history.entry) };
  if (type === 'kind.held')
    return { buttons: holdButtons(reader, { ...facts, state: 'held' }), effect: holdEffects(reader) };
  if (type === 'outbox.frozen') return { buttons: [{ label: t('Resume'), address: '/outbox/resume' }] };
  if (type === 'kind.unread' || type === 'kind.stale') return { buttons: [pullButton(facts.kinds, reader)] };
  if (type === 'plan.waiting') {
    const [about, address] = [t('plan {id}', { id: facts.planId }), `/plans/${facts.planId}/approve`];
    return { buttons: [{ label: t('Approve'), about, address, role: 'operator' }] };
  }
  if (type !== 'webhook.disabled' && type !== 'webhook.failing') return { buttons: [] };
  const endpoint = {
    name: facts.name,
    health: type === 'webhook.disabled' ? 'disabled' : 'failing',
  } as const;
  return { buttons: endpointButtons(reader, endpoint), effect: endpointEffects(reader, endpoint) };
}

type Decisions = Pick<NeedCard, 'buttons'> & Partial<Pick<NeedCard, 'effect'>>;

function pullButton(kinds: readonly string[], reader: Reader): DecisionButton {
  const [kind = ''] = kinds;
  const values = kinds.length === 1 ? { kinds: kind } : {};
  const about = kinds.map((name) => kindLabel(reader, name)).join(', ');
  return { label: reader.t('Pull'), about, address: '/pulls', values };
}

export function needsPanel(needs: readonly NeedCard[], reader: Reader, role?: UserRole): Html {
  const { t, when } = reader;
  const mayDecide = role === undefined || isRoleAllowed(role, 'operator');
  const note = mayDecide
    ? t('{n, plural, one {# item} other {# items}}', { n: needs.length })
    : t('Operators decide here. Without ADMIN_TOKEN, use the command line.');
  const items = needs.map(({ title, page, why, effect, since, isGrave = false, buttons, technical = '' }) => {
    return html`<li ${isGrave ? html`class="grave"` : null}>
      <div>
        <h3 ${technical === '' ? null : html`title="${technical}"`}>
          ${page === '/' ? title : html`<a href="${page}">${title}</a>`}
        </h3>
        <p>${why.map(written)} ${since === null ? null : html`<span class="quiet">${when(since)}</span>`}</p>
        ${mayDecide ? html`<p class="quiet small">${effect}</p>` : null}
      </div>
      ${decisionForms(buttons, '/', role)}
    </li>`;
  });
  const list = html`<ul class="needs">
    ${items}
  </ul>`;
  return panel({ id: 'needs', title: t('Needs you'), note, isLive: true }, list);
}

/** A text that is not ours is marked, so that nothing translates it or reads it aloud in the wrong language. */
function written(piece: string | Quoted): Part {
  if (typeof piece === 'string') return piece;
  const { text, as } = piece;
  if (as === 'code') return html`<code>${text}</code>`;
  return as === 'name' ? html`<span translate="no">${text}</span>` : html`<span lang="en">${text}</span>`;
}
