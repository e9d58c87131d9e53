import * as z from 'zod';
import { listPlans, type StoredPlan } from '../store/outbox/plan-store.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { deciderOf } from '../http/access.ts';
import { UsageError } from '../lib/sync-error.ts';
import { UPLOAD_BYTES, uploadPlan } from '../operations/upload-plan.ts';
import { isRoleAllowed } from '../store/users/user-store.ts';
import { listPanel, emptyNote, pageTitle, panel } from './parts/layout.ts';
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
  addUpload(app, dashboard);
  addPage(app, dashboard, page, async (asked) => {
    const { query, reader, user } = asked;
    const { t } = reader;
    const read = await listPlans(dashboard.session, PAGE_ROWS + 1, query.before);
    const { rows, next } = listPage(read, (plan) => plan.id);
    const none = emptyNote(t('None yet.'));
    const list = html`${rows.length === 0 ? none : planTable(rows, reader)}
    ${pageLinks(reader, PATH, query, next)}`;
    const title = t('Plans');
    const content = html`${pageTitle(title, t('Corrections from spreadsheets, newest first'))}
    ${user !== null && isRoleAllowed(user.role, 'operator') ? uploadForm(reader) : null}
    ${listPanel('plans', title, query.before === undefined, list)}`;
    return { title, content };
  });
}

const uploadSchema = {
  summary: 'Make a plan of an edited export by a form',
  tags: ['Pages'],
  consumes: ['multipart/form-data'],
  response: { 303: z.null().describe('The way to the plan') },
};

/** The answer to the form: the plan that was made of the file. */
function addUpload(app: Server, dashboard: Dashboard): void {
  const config = { signsIn: true, role: 'operator' } as const;
  app.post(PATH, { config, bodyLimit: FORM_BYTES, schema: uploadSchema }, async (request, reply) => {
    const file = request.isMultipart() ? await request.file() : undefined;
    if (file === undefined || !file.filename)
      throw new UsageError('The form has no file.', {
        code: 'usage.sheet',
        hint: 'Choose an edited export.',
      });
    const bytes = await file.toBuffer();
    if (file.file.truncated) throw new app.multipartErrors.RequestFileTooLargeError(); // By one byte: it would come cut off.
    const upload = { name: file.filename, bytes, allowNew: 'allowNew' in file.fields };
    const id = await uploadPlan(dashboard, upload, deciderOf(request, 'page').who);
    return reply.redirect(`${PATH}/${id}`, 303);
  });
}

/** A file of the largest size, and the form around it. */
const FORM_BYTES = UPLOAD_BYTES + 10_000;

/** The choice stands before the file, because a form is read in its order. */
const uploadForm = ({ t }: Reader): Html =>
  panel(
    { id: 'upload', title: t('Upload an edited export'), isLive: false },
    html`<form class="filters body" method="post" action="${PATH}" enctype="multipart/form-data">
      <label class="choice">
        <input type="checkbox" name="allowNew" value="yes" />
        ${t('create records from rows without an id')}
      </label>
      <label>
        ${t('Workbook or CSV, 10 MB at most')}
        <input type="file" name="file" accept=".xlsx,.csv" required />
      </label>
      <button class="main">${t('Show what would change')}</button>
    </form>`,
  );

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
