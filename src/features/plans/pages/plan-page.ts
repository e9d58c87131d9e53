import * as z from 'zod';
import { CHANGING, findAppliedFrom, readPlanPage, readRefusals, type Refusal } from '../store.ts';
import { readNames, type NameOf } from '../../../outbound/mirror-rows.ts';
import {
  NOTHING_TO_APPLY,
  PLAN_COUNTS_TEXT,
  shownRow,
  summarizePlan,
  type PlanSummary,
  type ShownRow,
} from '../work/plan-document.ts';
import { undoOrigin } from '../work/undo-plan.ts';
import { planPath } from '../operations/plans.ts';
import { wholeNumber } from '../../../operations/inputs.ts';
import type { Server } from '../../../http/server.ts';
import { dataTable, html, type Html } from '../../../http/html.ts';
import { badge, factList, itemList, pageTitle, panel, markEnglish } from '../../../dashboard/parts/layout.ts';
import { recordLink } from '../../../dashboard/parts/change-list.ts';
import { decisionForms } from '../../../dashboard/parts/decisions.ts';
import { addPage, type Dashboard } from '../../../dashboard/parts/page.ts';
import { linkTo, listLinks, PAGE_ROWS } from '../../../dashboard/parts/paging.ts';
import { planBadge, planButtons } from './parts.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { VERDICTS } from '../../../words/verdicts.ts';
import { translateReason } from '../../../words/stored-reasons.ts';
import type { MessageKey } from '../../../lib/text/translator.ts';
import { ellipsize, labelledField, labelledKind, shownText } from '../../../dashboard/parts/values.ts';

export function addPlanPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds, plans } = dashboard;
  const after = wholeNumber(1).optional().describe('only rows behind this one of the sheet');
  const querystring = z.object({ after });
  const page = { path: '/plans/:id', summary: 'Show a plan of corrections', params: planPath, querystring };
  addPage(app, dashboard, page, async ({ params: { id }, query, user, reader }) => {
    const { t } = reader;
    const path = `/plans/${id}`;
    const plan = await summarizePlan(session, kinds, id, dashboard);
    const place = { after: query.after ?? 0, limit: PAGE_ROWS + 1, which: CHANGING };
    const read = await readPlanPage(session, id, place);
    const undoneBy = await findAppliedFrom(session, undoOrigin(id));
    const refusals = await readRefusals(session, id, PAGE_ROWS + 1);
    const rows = read.slice(0, PAGE_ROWS).map(shownRow);
    const ofKind = rows.map(({ recordId }) => ({ kind: plan.kind, recordId }));
    const nameOf = await readNames(session, kinds, ofKind);
    const further = read.length > PAGE_ROWS ? linkTo(path, { after: rows.at(-1)?.position }) : null;
    const title = t('Plan {id}', { id });
    const buttons = decisionForms(planButtons(plan, { ...plans, user }, reader), path, user?.role);
    const content = html`${pageTitle(title, html`${labelledKind(reader, plan.kind)}, <span translate="no">${translateReason(plan.origin, reader)}</span> ${planBadge(reader, plan)}`)}
      <div id="plan" data-live>
        ${panel({ id: 'state', title: t('State') }, html`<div class="body">${pathOf(plan, undoneBy, reader)} ${buttons} ${factsOf(plan, reader)}</div>`)}
      </div>
      ${rows.length === 0 ? null : panel({ id: 'rows', title: t('Rows'), isLive: true }, rowTable(rows, plan.kind, nameOf, reader))}
      ${refusals.length === 0 ? null : refusalPanel(refusals, reader)}
      ${listLinks(reader, { words: t('First rows'), address: query.after === undefined ? null : path }, { words: t('Further rows'), address: further })}`;
    return { title, content };
  });
}

const STALE_SHOWN = 10;

/** Shows who has made and decided a plan, what it waits for, and what has become of its entries. */
function pathOf(plan: PlanSummary, undoneBy: number | null, reader: Reader): Html {
  const { t, count } = reader;
  const { state, next, createdAt, approvedAt, appliedAt, closedAt, reason } = plan;
  const done: readonly (readonly [MessageKey, string | null, string | null])[] = [
    ['Made by', plan.createdBy, createdAt],
    ['Approved by', plan.approvedBy, approvedAt],
    ['Applied by', plan.appliedBy, appliedAt],
    [state === 'rejected' ? 'Rejected by' : 'Withdrawn by', plan.closedBy, closedAt],
  ];
  const steps = done.flatMap(([text, who, at]) =>
    who === null || at === null ? [] : html`${t(text)} <b translate="no">${who}</b>, ${reader.exactTime(at)}`,
  );
  if (reason !== null) steps.push(html`<q translate="no">${reason}</q>`);
  if (state === 'stale') steps.push(planBadge(reader, plan));
  if (next !== null) steps.push(html`<strong aria-current="step">${t(next)}</strong>`);
  if (state === 'open' && next === null) steps.push(html`${t(NOTHING_TO_APPLY)}`);
  for (const [name, n] of Object.entries(plan.counts.entries)) {
    const word = t('{n, plural, other {{state}}}', { n, state: name }); // Agrees with the number in French.
    steps.push(html`${count(n)} <a href="/outbox?state=${name}">${word}</a>`);
  }
  if (plan.stop !== null) steps.push(html`${t(VERDICTS[plan.stop.verdict])}`);
  if (undoneBy !== null)
    steps.push(html`${t('Undone by')} <a href="/plans/${undoneBy}">${t('plan {id}', { id: undoneBy })}</a>`);
  return html`<ol class="path">
    ${steps.map((step) => html`<li>${step}</li>`)}
  </ol>`;
}

function factsOf(plan: PlanSummary, reader: Reader): Html {
  const { t } = reader;
  const { updates, creates, refusals } = plan.counts;
  const why = plan.stale
    .slice(0, STALE_SHOWN)
    .map((sentence) => html`<p class="small">${markEnglish(reader, sentence)}</p>`);
  return factList([
    [t('Rows'), t(PLAN_COUNTS_TEXT, { updates, creates, refusals })],
    [t('Stale'), plan.state === 'stale' ? html`${why}` : null],
    [t('Result'), html`<a href="/v1/plans/${plan.id}/result.csv">${t('one line per cell, as CSV')}</a>`],
  ]);
}

/** Shows the reasons of rows that change nothing, each once; the result has every row. */
function refusalPanel(refusals: readonly Refusal[], reader: Reader): Html {
  const { t } = reader;
  const items = refusals
    .slice(0, PAGE_ROWS)
    .map(
      ({ refusal, n, first }) =>
        html`<li>${t(REFUSED_ROWS, { n, first })}: ${markEnglish(reader, refusal)}</li>`,
    );
  if (refusals.length > PAGE_ROWS) items.push(html`<li>…</li>`);
  return panel({ id: 'refused', title: t('Refused'), isLive: true }, itemList(items));
}

const REFUSED_ROWS: MessageKey = '{n, plural, one {Row {first}} other {# rows from row {first} on}}';

const LONGEST_VALUE = 160;
function rowTable(rows: readonly ShownRow[], kind: string, nameOf: NameOf, translator: Reader): Html {
  const { t } = translator;
  const lines = rows.map((row) => {
    const { position, operation, recordId, cells, refusal, entry } = row;
    const changes = cells.map(
      (cell) =>
        html`<p>
          ${t('{name}:', { name: labelledField(translator, kind, cell.field) })}
          <del>${ellipsize(shownText(translator, kind, cell.field, cell.old), LONGEST_VALUE)}</del> →
          <ins>${ellipsize(shownText(translator, kind, cell.field, cell.new), LONGEST_VALUE)}</ins>
        </p>`,
    );
    const record =
      operation === 'create' && recordId === null
        ? t('a new record')
        : recordLink(translator, kind, recordId, nameOf(kind, recordId));
    return html`<tr id="row-${position}">
      <th scope="row">${position}</th>
      <td class="early">${record}</td>
      <td>
        ${changes}
        ${refusal === null ? null : html`<p>${badge(translator, 'refused')} ${markEnglish(translator, refusal)}</p>`}
      </td>
      <td class="${entry === null ? 'blank' : ''}">
        ${entry === null ? '–' : html`<a href="/outbox/${entry.id}">${entry.id}</a> ${badge(translator, entry.state)}`}
      </td>
    </tr>`;
  });
  const headings = [t('row'), t('record'), t('changes'), t('entry')];
  return dataTable(t('Rows of the plan'), headings, lines, 'cards');
}
