import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { countPlans } from '../store.ts';
import type { Server, Typed } from '../../../http/server.ts';
import { dataTable, html, type Html } from '../../../http/html.ts';
import { deciderOf } from '../../../http/access.ts';
import { fieldLabel, kindLabel } from '../../../catalog/descriptions.ts';
import { FORM_BYTES } from '../../../http/upload-limit.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import { readPlans } from '../work/plan-document.ts';
import { uploadPlan } from '../operations/upload-plan.ts';
import { isRoleAllowed } from '../../../store/users/user-store.ts';
import { listPanel, emptyNote, pageTitle, panel } from '../../../dashboard/parts/layout.ts';
import { addPage, beforeId, type Dashboard } from '../../../dashboard/parts/page.ts';
import { formField, listPage, PAGE_ROWS, pageLinks } from '../../../dashboard/parts/paging.ts';
import type { Translator } from '../../../lib/text/translator.ts';
import { translateReason } from '../../../words/stored-reasons.ts';
import { planBadge } from './parts.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { labelledKind } from '../../../dashboard/parts/values.ts';

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
    const read = await readPlans(dashboard.session, dashboard.kinds, PAGE_ROWS + 1, query.before);
    const { rows, ...rest } = listPage(read, (plan) => plan.id, await countPlans(dashboard.session));
    const none = emptyNote(t('None yet.'));
    const list = html`${rows.length === 0 ? none : planTable(rows, reader)}
    ${pageLinks(reader, PATH, query, rest)}`;
    const title = t('Corrections');
    const content = html`${pageTitle(title, t('From spreadsheets, newest first'))}
    ${user !== null && isRoleAllowed(user.role, 'operator') ? uploadForm(dashboard, reader) : null}
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
  const formOf = (translator: Translator, typed: Typed) => uploadForm(dashboard, translator, typed);
  const options = {
    config: { signsIn: true, role: 'operator', formOf },
    bodyLimit: FORM_BYTES,
    schema: uploadSchema,
    onRequest: uploadLimit.reserve,
  } as const;
  app.post(PATH, options, async (request, reply) => {
    const { file, fields } = await readForm(app, request).catch((error: unknown) => {
      // The parser's own errors have no status.
      throw error instanceof Error && !('statusCode' in error)
        ? noFile('The form is cut off.', error)
        : error;
    });
    request.body = Object.fromEntries(fields);
    if (file === undefined) throw noFile('The form has no file.');
    const choices = { create: fields.has('create'), allowReordered: fields.has('allowReordered') };
    const rules = { kind: fields.get('kind'), match: fields.get('match'), ...choices };
    const { who } = deciderOf(request, 'page');
    const id = await uploadLimit.inTurn(() => uploadPlan(dashboard, { ...file, ...rules }, who));
    return reply.redirect(`${PATH}/${id}`, 303);
  });
}

const noFile = (why: string, cause?: Error): UsageError =>
  new UsageError(why, { code: 'usage.sheet', hint: 'Choose an edited export.', cause });

/** Reads a form to its end, so that a second file is always refused. */
async function readForm(app: Server, request: FastifyRequest) {
  const fields = new Map<string, string>();
  let file: { readonly name: string; readonly bytes: Uint8Array } | undefined;
  if (!request.isMultipart()) return { file, fields };
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      if (part.value !== '') fields.set(part.fieldname, String(part.value));
    } else {
      const bytes = await part.toBuffer();
      if (part.file.truncated) throw new app.multipartErrors.RequestFileTooLargeError(); // By one byte: it would come cut off.
      if (part.filename) file = { name: part.filename, bytes };
    }
  }
  return { file, fields };
}

/** @param chosen What was chosen in a form that was refused. */
function uploadForm({ kinds }: Pick<Dashboard, 'kinds'>, reader: Translator, chosen: Typed = {}): Html {
  const { t } = reader;
  const writable = kinds.filter((kind) => kind.create !== null || kind.update !== null);
  const keys = writable.flatMap(({ naturalKey }) => (naturalKey === 'all sent fields' ? [] : naturalKey));
  const kindField = {
    name: 'kind',
    label: t('Kind'),
    value: chosen['kind'],
    choices: writable.map((kind) => kind.name),
    labelOf: (name: string) => kindLabel(reader, name),
  };
  const matchField = {
    name: 'match',
    label: t('Find records by'),
    value: chosen['match'],
    choices: [...new Set(keys)],
    labelOf: (name: string) => fieldLabel(reader, 'products', name),
  };
  const choice = (name: string, label: string): Html =>
    html`<label class="choice"
      ><input type="checkbox" name="${name}" value="yes" ${name in chosen ? html`checked` : null} />
      ${label}</label
    >`;
  return panel(
    { id: 'upload', title: t('Upload an edited export'), isLive: false },
    html`<form class="filters body" method="post" action="${PATH}" enctype="multipart/form-data">
      ${formField(kindField, t('by its name or columns'))} ${formField(matchField, t('their ids'))}
      ${choice('create', t('create records from rows without an id or a match'))}
      ${choice('allowReordered', t('accept a column whose values only changed places'))}
      <label>
        ${t('Workbook or CSV, 10 MB at most')}
        <input type="file" name="file" accept=".xlsx,.csv" required />
      </label>
      <button class="main">${t('Show what would change')}</button>
    </form>`,
  );
}

function planTable(plans: Awaited<ReturnType<typeof readPlans>>, reader: Reader): Html {
  const { t } = reader;
  const by = (who: string | null, at: string | null): Html =>
    who === null || at === null
      ? html`–`
      : html`<span translate="no">${who}</span> <span class="small quiet">${reader.when(at)}</span>`;
  const rows = plans.map((plan) => {
    const decidedBy = plan.closedBy ?? plan.appliedBy ?? plan.approvedBy;
    const decidedAt = plan.closedAt ?? plan.appliedAt ?? plan.approvedAt;
    return html`<tr>
      <th scope="row"><a href="${PATH}/${plan.id}">${plan.id}</a></th>
      <td class="early">${labelledKind(reader, plan.kind)} ${planBadge(reader, plan)}</td>
      <td translate="no">${translateReason(plan.origin, reader)}</td>
      <td data-title="${t('Made by')}">${by(plan.createdBy, plan.createdAt)}</td>
      <td class="${decidedBy === null ? 'blank' : ''}" data-title="${t('Decided by')}">
        ${by(decidedBy, decidedAt)}
      </td>
    </tr>`;
  });
  const headings = [t('plan'), t('kind'), t('from'), t('Made by'), t('Decided by')];
  return dataTable(t('Corrections'), headings, rows, 'cards');
}
