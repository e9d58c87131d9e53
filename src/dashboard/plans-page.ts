import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { countPlans, listPlans, type StoredPlan } from '../store/outbox/plan-store.ts';
import type { Server } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import { deciderOf } from '../http/access.ts';
import { FORM_BYTES } from '../http/upload-limit.ts';
import { UsageError } from '../lib/sync-error.ts';
import { uploadPlan } from '../operations/upload-plan.ts';
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
  addPage(app, dashboard, page, async (request) => {
    const { query, reader, user } = request;
    const { t } = reader;
    const read = await listPlans(dashboard.session, PAGE_ROWS + 1, query.before);
    const { rows, ...rest } = listPage(read, (plan) => plan.id, await countPlans(dashboard.session));
    const none = emptyNote(t('None yet.'));
    const list = html`${rows.length === 0 ? none : planTable(rows, reader)}
    ${pageLinks(reader, PATH, query, rest)}`;
    const title = t('Plans');
    const content = html`${pageTitle(title, t('Corrections from spreadsheets, newest first'))}
    ${user !== null && isRoleAllowed(user.role, 'operator') ? uploadForm(reader) : null}
    ${listPanel('plans', title, query.before === undefined, list)}`;
    return { title, content };
  });
}

const uploadSchema = {
  summary: 'Make a plan of an edited export by a form',
  consumes: ['multipart/form-data'],
  response: { 303: z.null().describe('The way to the plan') },
};

/** Adds the route of the upload form, which answers with the new plan. */
function addUpload(app: Server, dashboard: Dashboard): void {
  const { uploadLimit } = dashboard;
  const options = {
    config: { signsIn: true, role: 'operator' },
    bodyLimit: FORM_BYTES,
    schema: uploadSchema,
    onRequest: uploadLimit.reserve,
  } as const;
  app.post(PATH, options, async (request, reply) => {
    const { file, fields } = await readForm(app, request).catch((error: unknown) => {
      // The parser's own errors have no status.
      throw error instanceof Error && !('statusCode' in error) ? noFile('The form is cut off', error) : error;
    });
    if (file === undefined) throw noFile('The form has no file');
    const upload = { ...file, allowNew: fields.includes('allowNew') };
    const { who } = deciderOf(request, 'page');
    const id = await uploadLimit.inTurn(() => uploadPlan(dashboard, upload, who));
    return reply.redirect(`${PATH}/${id}`, 303);
  });
}

const noFile = (why: string, cause?: Error): UsageError =>
  new UsageError(`${why}.`, { code: 'usage.sheet', hint: 'Choose an edited export.', cause });

/** Reads a form to its end, so that a second file is always refused. */
async function readForm(app: Server, request: FastifyRequest) {
  const fields: string[] = [];
  let file: { readonly name: string; readonly bytes: Uint8Array } | undefined;
  if (!request.isMultipart()) return { file, fields };
  for await (const part of request.parts()) {
    if (part.type === 'field') fields.push(part.fieldname);
    else {
      const bytes = await part.toBuffer();
      if (part.file.truncated) throw new app.multipartErrors.RequestFileTooLargeError(); // By one byte: it would come cut off.
      if (part.filename) file = { name: part.filename, bytes };
    }
  }
  return { file, fields };
}

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
        <td class="${plan.approvedBy === null ? 'blank' : ''}" data-title="${t('Approved by')}">
          ${by(plan.approvedBy, plan.approvedAt)}
        </td>
        <td class="${plan.appliedBy === null ? 'blank' : ''}" data-title="${t('Applied by')}">
          ${by(plan.appliedBy, plan.appliedAt)}
        </td>
      </tr>`,
  );
  const headings = [t('plan'), t('kind'), t('from'), t('Made by'), t('Approved by'), t('Applied by')];
  return dataTable(t('Plans'), headings, rows, 'cards');
}
