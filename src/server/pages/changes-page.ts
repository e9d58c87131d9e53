import * as z from 'zod';
import { findChange, latestChanges } from '../../feed/read-changes.ts';
import { latestSeq } from '../../mirror/records/change-store.ts';
import type { RecordedChange } from '../../feed/read-changes.ts';
import { canonicalJson } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { checkKind } from '../../operations/inputs.ts';
import { rowPath } from '../fields.ts';
import type { Server } from '../server.ts';
import {
  changeBadge,
  changeList,
  diffRow,
  diffTable,
  objectIn,
  originBadge,
  recordAddress,
  recordName,
  verbatim,
} from './parts/change-list.ts';
import { exactly, html } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { before, chosen, pageOptions, sendPage } from './parts/page.ts';
import type { Dashboard } from './parts/page.ts';
import { filterForm, listPage, PAGE_ROWS, pageLinks } from './parts/paging.ts';
import type { RowsShown } from './parts/paging.ts';

/** Adds the pages of change events. */
export function addChangePages(app: Server, { session, kinds, clock }: Dashboard): void {
  const names = kinds.map(({ name }) => name);
  const querystring = z.object({ kind: chosen, record: chosen, before });
  const listOptions = pageOptions('Show change events', { querystring, refusals: [422] });
  app.get('/changes', listOptions, async ({ query }, reply) => {
    checkKind(kinds, query.kind);
    const after = await latestSeq(session);
    const read = await latestChanges(session, { ...query, recordId: query.record, limit: PAGE_ROWS + 1 });
    const page = listPage(read, ({ seq }) => seq);
    const content = changesPage({ kinds: names, query, page, now: clock.now() });
    return sendPage(reply, { title: 'Changes', part: '/changes', content, after });
  });
  const options = pageOptions('Show one change event', { params: rowPath });
  app.get('/changes/:id', options, async ({ params: { id } }, reply) => {
    const change = await findChange(session, id);
    if (change === null)
      throw new SyncError(`There is no event ${id}, or it was removed.`, { code: 'record.absent' });
    return sendPage(reply, { title: `Event ${id}`, part: '/changes', content: changePage(change) });
  });
}

interface ChangesQuery {
  readonly kind?: string | undefined;
  readonly record?: string | undefined;
  readonly before?: number | undefined;
}

/** The facts of the page of changes. */
interface ChangesFacts {
  readonly kinds: readonly string[];
  readonly query: ChangesQuery;
  readonly page: RowsShown<RecordedChange>;
  readonly now: Date;
}

/** Change events, newest first, of all records or some. */
function changesPage({ kinds, query, page, now }: ChangesFacts): Html {
  const { kind, record } = query;
  const about =
    kind === undefined ? 'of all kinds' : record === undefined ? `of ${kind}` : `of ${kind} ${record}`;
  return html`<div class="title">
      <h1>Changes</h1>
      <p>${about}, the newest first</p>
    </div>
    ${filterForm('/changes', [
      { name: 'kind', label: 'kind', value: kind, choices: kinds },
      { name: 'record', label: 'record (with its kind)', value: record },
    ])}
    <section
      class="panel"
      aria-label="Change events"
      id="changes"
      ${query.before === undefined ? html`data-live` : null}
    >
      ${page.rows.length === 0 ? html`<p class="none">None.</p>` : changeList(page.rows, now)}
      ${pageLinks({ path: '/changes', query: { ...query }, next: page.next })}
    </section>`;
}

const LONGEST = 20_000;

/** One event whole: all fields of the record before and after, the changed ones first. */
function changePage(change: RecordedChange): Html {
  const { seq, kind, recordId, before, after } = change;
  const [old, now] = [objectIn(before), objectIn(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const isChanged = (name: string): boolean => textOf(old[name]) !== textOf(now[name]);
  const changed = names.filter(isChanged);
  const rows = changed.map((name) =>
    diffRow({ name, before: old[name], after: now[name], longest: LONGEST }),
  );
  return html`<div class="title">
      <h1>Event ${seq}</h1>
      <p>
        ${changeBadge(change.change)} <a href="${recordAddress(kind, recordId)}">${kind} ${recordId}</a>
        ${recordName(after ?? before)}
      </p>
    </div>
    <section class="panel" aria-labelledby="facts-title">
      <header><h2 id="facts-title">Event</h2></header>
      <div class="body">${factsOf(change)}</div>
    </section>
    <section class="panel" aria-labelledby="diff-title">
      <header>
        <h2 id="diff-title">Before and after</h2>
        <p>${changed.length} of ${names.length} fields</p>
      </header>
      ${diffTable('Fields that differ', rows, 'full')}
    </section>
    ${unchanged(
      names.filter((name) => !isChanged(name)),
      now,
    )}`;
}

/** The fields that are the same before and after. */
function unchanged(names: readonly string[], record: JsonObject): Html | null {
  if (names.length === 0) return null;
  const rows = names.map(
    (name) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${verbatim(shown(record[name]))}</td>
      </tr>`,
  );
  return html`<section class="panel" aria-labelledby="same-title">
    <header><h2 id="same-title">Unchanged</h2></header>
    <table class="diff full">
      <caption class="unseen">
        Fields that are the same before and after
      </caption>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

const textOf = (value: Json | undefined): string | null =>
  value === undefined ? null : canonicalJson(value);

const shown = (value: Json | undefined): string => {
  if (value === undefined || value === null) return 'null';
  return typeof value === 'string' ? value : canonicalJson(value);
};

function factsOf({ observedFrom, observedAt, origin, runId, kind, recordId, seq }: RecordedChange): Html {
  const history = `/changes?kind=${encodeURIComponent(kind)}&record=${encodeURIComponent(recordId)}`;
  return html`<dl class="facts">
    <dt>Happened (UTC)</dt>
    <dd>
      ${observedFrom === null ? 'at an unknown time' : html`after ${exactly(observedFrom)}`}, no later than
      ${exactly(observedAt)}
    </dd>
    <dt>By</dt>
    <dd>${origin === 'service' ? 'somebody in the service' : originBadge(origin)}</dd>
    <dt>Found by</dt>
    <dd>${runId === null ? 'no run' : html`<a href="/runs/${runId}">run ${runId}</a>`}</dd>
    <dt>Record</dt>
    <dd><a href="${history}">All changes of this record</a></dd>
    <dt>API</dt>
    <dd><code>/v1/changes?after=${seq - 1}&amp;limit=1</code></dd>
  </dl>`;
}
