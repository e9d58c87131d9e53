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
import { html, type Html } from '../../../http/html.ts';
import { markEnglish } from '../../../dashboard/parts/english.ts';
import {
  badge,
  column,
  dataTable,
  factList,
  folded,
  itemList,
  panel,
} from '../../../dashboard/parts/layout.ts';
import { recordLink } from '../../../dashboard/parts/change-list.ts';
import { decisionForms } from '../../../dashboard/parts/decisions.ts';
import { pageAt, type Dashboard } from '../../../dashboard/parts/page.ts';
import { listPage, PAGE_ROWS, pageLinks } from '../../../dashboard/parts/paging.ts';
import { planBadge, planButtons } from './parts.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import type { Json } from '../../../lib/json/json.ts';
import { VERDICTS } from '../../../words/verdicts.ts';
import { translateReason } from '../../../words/stored-reasons.ts';
import type { MessageKey } from '../../../lib/text/translator.ts';
import { ellipsize, labelledField, labelledKind, shownText } from '../../../dashboard/parts/values.ts';

/** What a decision on a plan was about; a rejection has its reason. */
async function describePlan({ session, kinds }: Dashboard, id: number, reader: Reader, decision: string) {
  const { kind, origin, reason, counts } = await summarizePlan(session, kinds, id);
  const name = html`<span translate="no">${translateReason(origin, reader)}</span>`;
  const why = decision === 'plans reject' && html`<q translate="no">${reason}</q>`;
  return {
    about: html`<a href="/plans/${id}">${reader.t('Plan {id}', { id })}</a>, ${labelledKind(reader, kind)}`,
    details: html`${reader.t('{name}:', { name })} ${countsOf(counts, reader)}. ${why || null}`,
  };
}

const after = wholeNumber(1).optional().describe('only rows behind this one of the sheet');
const querystring = z.object({ after });
const described = { params: planPath, querystring, describe: describePlan };
const route = { path: '/plans/:id', summary: 'Show a plan of corrections', ...described };

export const addPlanPage = pageAt(route, async (dashboard, { params: { id }, query, user, reader }) => {
  const { session, kinds, plans } = dashboard;
  const { t } = reader;
  const path = `/plans/${id}`;
  const plan = await summarizePlan(session, kinds, id, dashboard);
  const wanted = { after: query.after ?? 0, limit: PAGE_ROWS + 1, which: CHANGING };
  const read = await readPlanPage(session, id, wanted);
  const undoneBy = await findAppliedFrom(session, undoOrigin(id));
  const refusals = await readRefusals(session, id, PAGE_ROWS + 1);
  const { rows, ...place } = listPage(read.map(shownRow), (row) => row.position);
  const ofKind = rows.map(({ recordId }) => ({ kind: plan.kind, recordId }));
  const nameOf = await readNames(session, kinds, ofKind);
  const buttons = decisionForms(planButtons(plan, { ...plans, user }, reader), path, user?.role);
  const content = html`<div id="plan" data-live>
      ${panel({ id: 'state', title: t('State'), note: planBadge(reader, plan) }, html`<div class="body">${pathOf(plan, undoneBy, reader)} ${buttons} ${factsOf(plan, reader)}</div>`)}
    </div>
    ${rows.length === 0 ? null : panel({ id: 'rows', title: t('Rows'), isLive: true }, rowTable(rows, plan.kind, nameOf, reader))}
    ${refusals.length === 0 ? null : refusalPanel(refusals, reader)}
    ${pageLinks(reader, { path, query, by: 'after' }, place)}`;
  const origin = html`<span translate="no">${translateReason(plan.origin, reader)}</span>`;
  const about = html`${labelledKind(reader, plan.kind)}, ${origin}`;
  return { title: t('Plan {id}', { id }), about, content };
});

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

const countsOf = ({ updates, creates, refusals }: PlanSummary['counts'], { t }: Reader): string =>
  t(PLAN_COUNTS_TEXT, { updates, creates, refusals });

function factsOf(plan: PlanSummary, reader: Reader): Html {
  const { t } = reader;
  const why = plan.stale
    .slice(0, STALE_SHOWN)
    .map((sentence) => html`<p class="small">${markEnglish(reader, sentence)}</p>`);
  return factList([
    [t('Rows'), countsOf(plan.counts, reader)],
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
const CELLS_SHOWN = 2;

function rowTable(rows: readonly ShownRow[], kind: string, nameOf: NameOf, reader: Reader): Html {
  const { t } = reader;
  const valueOf = (field: string, value: Json): string =>
    ellipsize(shownText(reader, kind, field, value), LONGEST_VALUE);
  return dataTable(
    { caption: t('Rows of the plan'), rows },
    column(t('row'), '', ({ position }) => html`<span id="row-${position}">${position}</span>`),
    column(t('record'), 'early', ({ operation, recordId }) =>
      operation === 'create' && recordId === null
        ? t('a new record')
        : recordLink(reader, kind, recordId, nameOf(kind, recordId)),
    ),
    column(t('changes'), '', ({ position, cells, refusal }) => {
      const changes = cells.map(
        (cell) =>
          html`<p class="small brief">
            ${t('{name}:', { name: labelledField(reader, kind, cell.field) })}
            <del>${valueOf(cell.field, cell.old)}</del> → <ins>${valueOf(cell.field, cell.new)}</ins>
          </p>`,
      );
      const rest = changes.slice(CELLS_SHOWN);
      return html`${changes.slice(0, CELLS_SHOWN)} ${folded(reader, `${position}`, rest.length, rest)}
      ${refusal && html`<p>${badge(reader, 'refused')} ${markEnglish(reader, refusal)}</p>`}`;
    }),
    column(t('entry'), '', ({ entry }) => {
      return entry && html`<a href="/outbox/${entry.id}">${entry.id}</a> ${badge(reader, entry.state)}`;
    }),
  );
}
