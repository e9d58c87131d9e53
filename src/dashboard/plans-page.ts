import * as z from 'zod';
import { listPlans, type StoredPlan } from '../store/outbox/plan-store.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { listPanel, emptyNote, pageTitle } from './parts/layout.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { planBadge } from './parts/plans.ts';
import type { Reader } from './parts/reader.ts';
import { labelledKind } from './parts/values.ts';

const PATH = '/plans';

export function addPlansPage(app: Server, dashboard: Dashboard): void {
  const page = {
    path: PATH,
    summary: 'Show the plans of corrections',
    querystring: z.object({ before: beforeId }),
  };
  addPage(app, dashboard, page, async (asked) => {
    const { query, reader } = asked;
    const { t } = reader;
    const read = await listPlans(dashboard.session, PAGE_ROWS + 1, query.before);
    const { rows, next } = listPage(read, (plan) => plan.id);
    const none = emptyNote(t('None yet. To make one from an edited export: bms-sync plan FILE'));
    const list = html`${rows.length === 0 ? none : planTable(rows, reader)}
    ${pageLinks(reader, PATH, query, next)}`;
    const title = t('Plans');
    const content = html`${pageTitle(title, t('Corrections from spreadsheets, newest first'))}
    ${listPanel('plans', title, query.before === undefined, list)}`;
    return { title, content };
  });
}

function planTable(plans: readonly StoredPlan[], reader: Reader): Html {
  const { t } = reader;
  const by = (who: string | null, at: string | null): Html =>
    who === null || at === null
      ? html`–`
      : html`<span translate="no">${who}</span> <span class="small quiet">${reader.when(at)}</span>`;
  const rows = plans.map(
    (plan) =>
      html`<tr>
        <th scope="row"><a href="${PATH}/${plan.id}">${plan.id}</a></th>
        <td class="early">${labelledKind(reader, plan.kind)} ${planBadge(reader, plan.state)}</td>
        <td translate="no">${plan.origin}</td>
        <td data-title="${t('Made by')}">${by(plan.createdBy, plan.createdAt)}</td>
        <td data-title="${t('Approved by')}">${by(plan.approvedBy, plan.approvedAt)}</td>
        <td data-title="${t('Applied by')}">${by(plan.appliedBy, plan.appliedAt)}</td>
      </tr>`,
  );
  const headings = [t('plan'), t('kind'), t('from'), t('Made by'), t('Approved by'), t('Applied by')];
  return dataTable(t('Plans'), headings, rows, 'cards');
}
