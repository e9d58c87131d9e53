import * as z from 'zod';
import { recordName } from '../store/records/record-name.ts';
import { readOwnRows } from '../outbound/attempt/land-own.ts';
import { COUNTED, showPlan, type ShownPlan, type ShownRow } from '../outbound/plans/plan-document.ts';
import { planPath } from '../operations/plans.ts';
import { wholeNumber } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { badge, factList, pageTitle, panel, tile, told } from './parts/layout.ts';
import { recordLink } from './parts/change-list.ts';
import { decisionForms } from './parts/decisions.ts';
import { addPage, done, type Dashboard } from './parts/page.ts';
import { linkTo, listWays, PAGE_ROWS } from './parts/paging.ts';
import { planBadge, planButtons } from './parts/plans.ts';
import type { Reader } from './parts/reader.ts';
import type { Speech } from '../lib/text/speech.ts';
import { cut, breakableName, valueAsText } from './parts/values.ts';

/** Adds the page of a plan: who has decided what, how far it is, and its rows page by page, each cell old and new. */
export function addPlanPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds, plans } = dashboard;
  const after = wholeNumber(1).optional().describe('only rows behind this one of the sheet');
  const querystring = z.object({ after, done });
  const page = { path: '/plans/:id', summary: 'Show a plan of corrections', params: planPath, querystring };
  addPage(app, dashboard, page, async ({ params: { id }, query, caller, reader }) => {
    const { say } = reader;
    const path = `/plans/${id}`;
    const plan = await showPlan(session, kinds, id);
    const left = plan.rows.filter((row) => row.position > (query.after ?? 0));
    const rows = left.slice(0, PAGE_ROWS);
    const ids = rows.flatMap((row) => row.recordId ?? []);
    const records = await session.atomically((tx) => readOwnRows(tx, plan.kind, ids));
    const nameOf = (one: string | null): string => recordName(records.get(one ?? '')?.raw ?? null);
    const further = left.length > PAGE_ROWS ? linkTo(path, { after: rows.at(-1)?.position }) : null;
    const title = say('Plan {id}', { id });
    const buttons = decisionForms(planButtons(plan, { ...plans, caller }, reader), path, caller?.role);
    const content = html`${pageTitle(title, html`<span translate="no">${plan.kind}, ${plan.origin}</span> ${planBadge(reader, plan.state)}`)}
      <div id="plan" data-live>
        ${panel({ id: 'state', title: say('State') }, html`<div class="body">${buttons} ${factsOf(plan, reader)}</div>`)}
        ${progress(plan, reader)}
      </div>
      ${panel({ id: 'rows', title: say('Rows'), isLive: true }, rowTable(rows, plan.kind, nameOf, reader))}
      ${listWays(reader, { words: say('First rows'), address: query.after === undefined ? null : path }, { words: say('Further rows'), address: further })}`;
    return { title, content };
  });
}

const STALE_SHOWN = 10;

function factsOf(plan: ShownPlan, reader: Reader): Html {
  const { say } = reader;
  const { updates, creates, refusals } = plan.counts;
  const by = (who: string | null, at: string | null): Html | null =>
    who === null || at === null ? null : html`<span translate="no">${who}</span>, ${reader.exactly(at)}`;
  const why = plan.stale
    .slice(0, STALE_SHOWN)
    .map((sentence) => html`<p class="small">${told(reader, sentence)}</p>`);
  return factList([
    [say('Rows'), say(COUNTED, { updates, creates, refusals })],
    [say('Made by'), by(plan.createdBy, plan.createdAt)],
    [say('Approved by'), by(plan.approvedBy, plan.approvedAt)],
    [say('Applied by'), by(plan.appliedBy, plan.appliedAt)],
    [say('Stale'), plan.state === 'stale' ? html`${why}` : null],
    [say('Result'), html`<a href="/v1/plans/${plan.id}/result.csv">${say('a line a cell, as CSV')}</a>`],
  ]);
}

/** How many entries of an applied plan are in which state. */
function progress({ counts: { entries } }: ShownPlan, speech: Speech): Html | null {
  const { say, word } = speech;
  const numbers = Object.entries(entries);
  if (numbers.length === 0) return null;
  return html`<ul class="tiles" aria-label="${say('Entries of the outbox')}">
    ${numbers.map(([state, number]) => tile(speech, `/outbox?state=${state}`, number, word(state)))}
  </ul>`;
}

const LONGEST_VALUE = 160;
const TONES = {
  done: 'good',
  parked: 'warn',
  unsettled: 'warn',
  rejected: 'bad',
  sending: 'info',
  refused: 'bad',
};

function rowTable(
  rows: readonly ShownRow[],
  kind: string,
  nameOf: (id: string | null) => string,
  speech: Speech,
): Html {
  const { say } = speech;
  const lines = rows.map(({ position, operation, recordId, cells, refusal, entry }) => {
    const changes = cells.map(
      (cell) =>
        html`<p>
          ${breakableName(cell.field)}: <del>${cut(valueAsText(cell.old), LONGEST_VALUE)}</del> →
          <ins>${cut(valueAsText(cell.new), LONGEST_VALUE)}</ins>
        </p>`,
    );
    const record =
      operation === 'create' && recordId === null ? say('a new record') : recordLink(kind, recordId);
    return html`<tr id="row-${position}">
      <th scope="row">${position}</th>
      <td class="early">${record} <span class="name" translate="no">${nameOf(recordId)}</span></td>
      <td>
        ${changes}
        ${refusal === null ? null : html`<p>${badge(speech, 'refused', TONES)} ${told(speech, refusal)}</p>`}
      </td>
      <td>
        ${entry === null ? '–' : html`<a href="/outbox/${entry.id}">${entry.id}</a> ${badge(speech, entry.state, TONES)}`}
      </td>
    </tr>`;
  });
  const headings = [say('row'), say('record'), say('changes'), say('entry')];
  return dataTable(say('Rows of the plan'), headings, lines, 'cards');
}
