import * as z from 'zod';
import { latestChanges } from '../feed/read-changes.ts';
import { latestSeq } from '../mirror/records/change-store.ts';
import type { RecordedChange } from '../feed/read-changes.ts';
import { checkKind } from '../operations/inputs.ts';
import type { Server } from '../http/server.ts';
import { changeList } from './parts/change-list.ts';
import { html } from '../http/html.ts';
import type { Html } from '../http/html.ts';
import { listPanel, nothing, pageTitle } from './parts/layout.ts';
import { before, chosen, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';

/** Adds the page of change events. */
export function addChangesPage(app: Server, { session, kinds, clock }: Dashboard): void {
  const names = kinds.map(({ name }) => name);
  const querystring = z.object({ kind: chosen, record: chosen, before });
  const listOptions = pageOptions('Show change events', { querystring, refusals: [422] });
  app.get('/changes', listOptions, async ({ query }, reply) => {
    checkKind(kinds, query.kind);
    const after = await latestSeq(session);
    const read = await latestChanges(session, { ...query, recordId: query.record, limit: PAGE_ROWS + 1 });
    const page = listPage(read, ({ seq }) => seq);
    const content = changesPage(names, query, page, clock.now());
    return sendPage(reply, { title: 'Changes', part: '/changes', content, after });
  });
}

interface ChangesQuery {
  readonly kind?: string | undefined;
  readonly record?: string | undefined;
  readonly before?: number | undefined;
}

/** Change events, newest first, of all records or some. */
function changesPage(
  kinds: readonly string[],
  query: ChangesQuery,
  { rows, next }: RowsShown<RecordedChange>,
  now: Date,
): Html {
  const { kind, record } = query;
  const about =
    kind === undefined ? 'of all kinds' : record === undefined ? `of ${kind}` : `of ${kind} ${record}`;
  const list = html`${rows.length === 0 ? nothing('None.') : changeList(rows, now)}
  ${pageLinks('/changes', { ...query }, next)}`;
  return html`${pageTitle('Changes', `${about}, the newest first`)}
  ${filterForm('/changes', [
    { name: 'kind', label: 'kind', value: kind, choices: kinds },
    { name: 'record', label: 'record (with its kind)', value: record },
  ])}
  ${listPanel('changes', 'Change events', query.before === undefined, list)}`;
}
