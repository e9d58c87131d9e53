import * as z from 'zod';
import {
  countDecisions,
  INTERFACES,
  listDecisions,
  type StoredDecision,
} from '../store/users/decision-store.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html, type Part } from '../http/html.ts';
import { labelOf } from './parts/decisions.ts';
import { badge, listPanel, emptyNote, pageTitle } from './parts/layout.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { labelledKinds } from './parts/values.ts';

const PATH = '/decisions';

export function addDecisionsPage(app: Server, dashboard: Dashboard): void {
  const page = {
    path: PATH,
    summary: 'Show who has decided what',
    querystring: z.object({ before: beforeId }),
  };
  addPage(app, dashboard, page, async ({ query, reader }) => {
    const { t } = reader;
    const read = await listDecisions(dashboard.session, PAGE_ROWS + 1, query.before);
    const names = new Set(dashboard.kinds.map((kind) => kind.name));
    const total = await countDecisions(dashboard.session);
    const { rows, ...rest } = listPage(read, (decision) => decision.id, total);
    const list = html`${rows.length === 0 ? emptyNote(t('None yet.')) : decisionTable(rows, names, reader)}
    ${pageLinks(reader, PATH, query, rest)}`;
    const content = html`${pageTitle(t('Decisions'), t('Who did what, newest first'))}
    ${listPanel('decisions', t('Decisions'), query.before === undefined, list)}`;
    return { title: t('Decisions'), content };
  });
}

/** The part of the dashboard, and the button there: `Outbox · Abandon`. */
const decisionLabel = (what: string, reader: Reader): string =>
  what
    .split(' ')
    .map((word) => labelOf(reader, word))
    .join(' · ');

function decisionTable(
  decisions: readonly StoredDecision[],
  kinds: ReadonlySet<string>,
  reader: Reader,
): Html {
  const { t, when } = reader;
  /** A target is a name, the number of what has a page, or a list of kinds. */
  const labelled = (target: string, [part = '']: readonly string[]): Part => {
    const names = target.split(',');
    if (/^(?:outbox|plans)$/.test(part) && /^\d+$/.test(target))
      return html`<a href="/${part}/${target}">${target}</a>`;
    return names.every((name) => kinds.has(name)) ? labelledKinds(reader, names) : target;
  };
  const rows = decisions.map(
    ({ at, who, role, via, what, target, detail }) =>
      html`<tr>
        <th scope="row" title="${what}">${decisionLabel(what, reader)}</th>
        <td translate="no">
          ${labelled(target ?? '–', what.split(' '))} <span class="small quiet">${detail}</span>
        </td>
        <td class="early"><span translate="no">${who}</span> ${badge(reader, role)}</td>
        <td data-title="${t('interface')}">${t(INTERFACES[via])}</td>
        <td class="nowrap early">${when(at)}</td>
      </tr>`,
  );
  const headings = [t('what'), t('on what'), t('who'), t('interface'), t('when')];
  return dataTable(t('Decisions'), headings, rows, 'cards');
}
