import * as z from 'zod';
import { readDrift } from '../store/kinds/drift-store.ts';
import { countIssues } from '../store/kinds/status-store.ts';
import { listOpenIssues, type ListedIssue } from '../store/records/issue-store.ts';
import { duplicateIds } from '../store/records/duplicates.ts';
import { readNames, type NameOf } from '../outbound/mirror-rows.ts';
import { recordLink } from './parts/change-list.ts';
import { html, type Html } from '../http/html.ts';
import { filterForm, kindChoice } from './parts/forms.ts';
import { badge, column, dataTable, feedItem, itemList, note, panel, titled } from './parts/layout.ts';
import { beforeId, pageAt } from './parts/page.ts';
import { filterValue } from '../operations/inputs.ts';
import type { Reader } from './parts/reader.ts';
import { listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import { ellipsize, labelledField, labelledKind } from './parts/values.ts';

const PATH = '/issues';
const DRIFT_SHOWN = 10;

const summary = 'Show values that fit no rule, and changes in how the service answers';
const querystring = z.object({ kind: filterValue, code: filterValue, before: beforeId });
const route = { path: PATH, summary, querystring };

export const addIssuesPage = pageAt(route, async ({ session, kinds }, { query, reader }) => {
  const { t, term } = reader;
  const read = await listOpenIssues(session, { ...query, limit: PAGE_ROWS + 1 });
  const counts = await countIssues(session);
  const drift = await readDrift(session, DRIFT_SHOWN);
  const counted = counts.filter(
    ({ kind, code }) => [kind, undefined].includes(query.kind) && [code, undefined].includes(query.code),
  );
  const total = counted.reduce((sum, { count }) => sum + count, 0);
  const page = listPage(read, (issue) => issue.id, total);
  const choices = [...new Set(counts.map((count) => count.code))].sort();
  const table = issueTable(page.rows, await readNames(session, kinds, page.rows), reader);
  const open = html`${table} ${pageLinks(reader, { path: PATH, query }, page)}`;
  const code = { name: 'code', label: t('issue'), value: query.code, choices, labelOf: term };
  const content = html`${filterForm(reader, PATH, kindChoice(reader, kinds, query.kind), code)}
    <div class="columns">
      ${panel({ id: 'issues', title: t('Open issues') }, open)} ${driftPanel(drift, reader)}
    </div>`;
  return { title: t('Issues'), heading: t('Issues and drift'), about: t(ABOUT), content, isStill: true };
});

const ABOUT =
  'What does not fit: values of another type, whose text is kept, ids on two pages, records that may be the same.';

const LONGEST_DETAIL = 240;

function issueTable(rows: readonly ListedIssue[], nameOf: NameOf, reader: Reader): Html {
  const { t, term, exactTime } = reader;
  return dataTable(
    { caption: t('Open issues, newest first'), rows, none: t('None.') },
    column(t('record'), 'brief', ({ kind, recordId }) =>
      recordLink(reader, kind, recordId, nameOf(kind, recordId)),
    ),
    column(t('field'), 'early', ({ kind, field }) => field && labelledField(reader, kind, field)),
    column(t('issue'), 'early', ({ code }) => titled(code, term(code).replaceAll('_', ' '))),
    column(t('detail'), 'small brief data', ({ kind, code, detail }) =>
      code === 'twins'
        ? duplicateIds(detail).map((id) => recordLink(reader, kind, id))
        : ellipsize(detail ?? '', LONGEST_DETAIL),
    ),
    column(t('seen'), 'nowrap small early', ({ firstSeenAt }) => exactTime(firstSeenAt)),
  );
}

function driftPanel(drift: Awaited<ReturnType<typeof readDrift>>, reader: Reader): Html {
  const items = drift.map(({ kind, field, code, detail, seenAt }) =>
    feedItem(
      html`${badge(reader, code)} <span>${labelledKind(reader, kind)}</span>
        <span>${field && labelledField(reader, kind, field)}</span>`,
      reader.exactTime(seenAt),
      note(html`<span lang="en">${ellipsize(detail, LONGEST_DETAIL)}</span>`),
    ),
  );
  const { t } = reader;
  const head = { id: 'drift', title: t('Drift'), note: t('changes in the answers of the service') };
  return panel(head, itemList(items, t('None seen.')));
}
