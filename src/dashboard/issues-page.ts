import * as z from 'zod';
import { kindLabel } from '../catalog/descriptions.ts';
import { readDrift } from '../store/kinds/drift-store.ts';
import { countIssues } from '../store/kinds/status-store.ts';
import { listOpenIssues, type ListedIssue } from '../store/records/issue-store.ts';
import { duplicateIds } from '../store/records/duplicates.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import type { Server } from '../http/server.ts';
import { recordLink } from './parts/change-list.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { badge, itemList, emptyNote, pageTitle, panel } from './parts/layout.ts';
import { addPage, beforeId, type Dashboard } from './parts/page.ts';
import { filterValue } from '../operations/inputs.ts';
import type { Reader } from './parts/reader.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { ellipsize, labelledField, labelledKind } from './parts/values.ts';

const PATH = '/issues';
const DRIFT_SHOWN = 50;

export function addIssuesPage(app: Server, dashboard: Dashboard): void {
  const { session, kinds } = dashboard;
  const names = kinds.map((kind) => kind.name);
  const summary = 'Show values that fit no rule, and changes in how the service answers';
  const querystring = z.object({ kind: filterValue, code: filterValue, before: beforeId });
  addPage(app, dashboard, { path: PATH, summary, querystring }, async ({ query, reader }) => {
    const { t, term } = reader;
    const read = await listOpenIssues(session, { ...query, limit: PAGE_ROWS + 1 });
    const counts = await countIssues(session);
    const drift = await readDrift(session, DRIFT_SHOWN);
    const kindOf = (name: string): string => kindLabel(reader, name);
    const counted = counts.filter(
      ({ kind, code }) => [kind, undefined].includes(query.kind) && [code, undefined].includes(query.code),
    );
    const total = counted.reduce((sum, { count }) => sum + count, 0);
    const { rows, ...rest } = listPage(read, (issue) => issue.id, total);
    const nameOf = await readNames(session, kinds, rows);
    const codes = [...new Set(counts.map((count) => count.code))].sort();
    const about = t(
      'What does not fit: values of another type, whose text is kept, ids on two pages, records that may be the same.',
    );
    const open = html`${rows.length === 0 ? emptyNote(t('None.')) : issueTable(rows, nameOf, reader)}
    ${pageLinks(reader, PATH, query, rest)}`;
    const content = html`${pageTitle(t('Issues and drift'), about)}
      ${filterForm(reader, PATH, [
        { name: 'kind', label: t('kind'), value: query.kind, choices: names, labelOf: kindOf },
        { name: 'code', label: t('issue'), value: query.code, choices: codes, labelOf: term },
      ])}
      <div class="columns">
        ${panel({ id: 'issues', title: t('Open issues') }, open)} ${driftPanel(drift, reader)}
      </div>`;
    return { title: t('Issues'), content, isStill: true };
  });
}

const LONGEST_DETAIL = 240;

function issueTable(issues: readonly ListedIssue[], nameOf: NameOf, reader: Reader): Html {
  const { t, term, exactTime } = reader;
  const rows = issues.map(
    ({ kind, recordId, field, code, detail, firstSeenAt }) =>
      html`<tr>
        <th scope="row">${recordLink(reader, kind, recordId, nameOf(kind, recordId))}</th>
        <td data-title="${t('field')}">${field === null ? '–' : labelledField(reader, kind, field)}</td>
        <td data-title="${t('issue')}" title="${code}">${term(code).replaceAll('_', ' ')}</td>
        <td class="small brief" translate="no">
          ${code === 'twins' ? duplicateIds(detail).map((id) => recordLink(reader, kind, id)) : ellipsize(detail ?? '', LONGEST_DETAIL)}
        </td>
        <td class="nowrap small early">${exactTime(firstSeenAt)}</td>
      </tr>`,
  );
  const headings = [t('record'), t('field'), t('issue'), t('detail'), t('seen')];
  return dataTable(t('Open issues, newest first'), headings, rows, 'cards');
}

function driftPanel(drift: Awaited<ReturnType<typeof readDrift>>, reader: Reader): Html {
  const items = drift.map(
    ({ kind, field, code, detail, seenAt }) =>
      html`<li>
        <div class="head">
          ${badge(reader, code)} <span>${labelledKind(reader, kind)}</span>
          <span>${field === null ? null : labelledField(reader, kind, field)}</span>
          <span class="last quiet small">${reader.exactTime(seenAt)}</span>
        </div>
        <p class="small quiet brief" lang="en">${ellipsize(detail, LONGEST_DETAIL)}</p>
      </li>`,
  );
  const { t } = reader;
  const head = { id: 'drift', title: t('Drift'), note: t('changes in the answers of the service') };
  return panel(head, items.length === 0 ? emptyNote(t('None seen.')) : itemList(items));
}
