import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { countPlans } from '../store.ts';
import type { Server, Typed } from '../../../http/server.ts';
import { html, type Html } from '../../../http/html.ts';
import { deciderOf } from '../../../http/access.ts';
import { fieldLabel } from '../../../catalog/descriptions.ts';
import { FORM_BYTES } from '../../../http/upload-limit.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import { readPlans } from '../work/plan-document.ts';
import { uploadPlan } from '../operations/upload-plan.ts';
import { isRoleAllowed } from '../../../store/users/user-store.ts';
import { formOf, kindChoice, type FormField } from '../../../dashboard/parts/forms.ts';
import { column, dataTable, panel } from '../../../dashboard/parts/layout.ts';
import { pageAt, beforeId, type Dashboard } from '../../../dashboard/parts/page.ts';
import { listPage, PAGE_ROWS, pagedPanel } from '../../../dashboard/parts/paging.ts';
import type { Translator } from '../../../lib/text/translator.ts';
import { translateReason } from '../../../words/stored-reasons.ts';
import { planBadge } from './parts.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';
import { labelledKind } from '../../../dashboard/parts/values.ts';

const PATH = '/plans';

export function addPlansPage(app: Server, dashboard: Dashboard): void {
  const summary = 'Show the plans of corrections';
  const route = { path: PATH, summary, querystring: z.object({ before: beforeId }) };
  addUpload(app, dashboard);
  pageAt(route, async (_, { query, reader, user }) => {
    const { t } = reader;
    const read = await readPlans(dashboard.session, dashboard.kinds, PAGE_ROWS + 1, query.before);
    const page = listPage(read, (plan) => plan.id, await countPlans(dashboard.session));
    const title = t('Corrections');
    const mayUpload = user !== null && isRoleAllowed(user.role, 'operator');
    const content = html`${mayUpload ? uploadForm(dashboard, reader) : null}
    ${pagedPanel(reader, { id: 'plans', title, path: PATH, query }, page, planTable(page.rows, reader))}`;
    return { title, about: t('From spreadsheets, newest first'), content };
  })(app, dashboard);
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
  const none = t('by its name or columns');
  const checkbox = (name: string, label: string): FormField => {
    return { name, label, type: 'checkbox', value: chosen[name] };
  };
  const fields = [
    { ...kindChoice(reader, writable, chosen['kind']), label: t('Kind'), none },
    {
      name: 'match',
      label: t('Find records by'),
      value: chosen['match'],
      none: t('their ids'),
      choices: [...new Set(keys)],
      labelOf: (name: string) => fieldLabel(reader, 'products', name),
    },
    checkbox('create', t('create records from rows without an id or a match')),
    checkbox('allowReordered', t('accept a column whose values only changed places')),
    {
      name: 'file',
      label: t('Workbook or CSV, 10 MB at most'),
      type: 'file' as const,
      attributes: html`accept=".xlsx,.csv" required`,
    },
  ];
  const sent = { isUpload: true, fields, button: t('Show what would change'), isMain: true } as const;
  return panel(
    { id: 'upload', title: t('Upload an edited export'), isLive: false },
    formOf({ action: PATH, look: 'filters body', ...sent }),
  );
}

function planTable(rows: Awaited<ReturnType<typeof readPlans>>, reader: Reader): Html {
  const { t } = reader;
  const by = (who: string | null, at: string | null): Html | null =>
    who === null
      ? null
      : html`<span translate="no">${who}</span> <span class="small quiet">${reader.when(at)}</span>`;
  return dataTable(
    { caption: t('Corrections'), rows, none: t('None yet.') },
    column(t('plan'), '', ({ id }) => html`<a href="${PATH}/${id}">${id}</a>`),
    column(t('kind'), 'early', (plan) => html`${labelledKind(reader, plan.kind)} ${planBadge(reader, plan)}`),
    column(t('from'), 'data', ({ origin }) => translateReason(origin, reader)),
    column(t('Made by'), 'named', ({ createdBy, createdAt }) => by(createdBy, createdAt)),
    column(t('Decided by'), 'named', (plan) =>
      by(
        plan.closedBy ?? plan.appliedBy ?? plan.approvedBy,
        plan.closedAt ?? plan.appliedAt ?? plan.approvedAt,
      ),
    ),
  );
}
