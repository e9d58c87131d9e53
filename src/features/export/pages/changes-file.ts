import * as z from 'zod';
import { changedFields, makerOf } from '../../../dashboard/parts/change-list.ts';
import type { AddPage } from '../../../dashboard/parts/page.ts';
import { kindLabel } from '../../../catalog/descriptions.ts';
import { eventsOf, readLatestChanges } from '../../../events/read-changes.ts';
import { changeFilters, checkKind } from '../../../operations/inputs.ts';
import { pushersOf } from '../../../store/outbox/outbox-store.ts';
import { recordName } from '../../../store/records/record-name.ts';
import type { ExportType } from '../read-rows.ts';
import { fileFormat, sendExport } from '../routes.ts';

const schema = {
  summary: 'Export changes as people read them, a line for each changed field',
  tags: ['Records'],
  querystring: z.strictObject({ ...changeFilters, format: fileFormat.default('csv') }),
  response: { 200: { description: 'The file', content: { 'text/csv': { schema: z.string() } } } },
};

const COLUMNS = ['when', 'change', 'kind', 'id', 'name', 'field', 'before', 'after', 'who'] as const;
const TYPES: Readonly<Record<string, ExportType>> = { when: 'timestamp', id: 'integer' };
const A_BATCH = 500;

/** Adds the file of the page of changes, which shows the same; the view `bi_changes` has the events themselves. */
export const addChangesFile: AddPage = (app, dashboard) => {
  const { session, kinds, readerOf } = dashboard;
  app.get('/v1/export/changes', { schema }, async (request, reply) => {
    const { format, ...filters } = request.query;
    const reader = readerOf(request);
    checkKind(kinds, filters.kind);
    const events = await eventsOf(session, filters, reader.now(), reader.timezone);
    async function* lines() {
      for (let { before } = events; before > 0;) {
        const changes = await readLatestChanges(session, { ...events, before, limit: A_BATCH });
        const pushers = await pushersOf(session, changes);
        yield changes.flatMap((change) => {
          const { kind, recordId, observedAt, after, before, origin } = change;
          const what = [kindLabel(reader, kind, 'one'), recordId, recordName(after ?? before) || null];
          const head = [reader.localTime(observedAt), reader.term(change.change), ...what];
          const who = makerOf(reader, origin, pushers);
          const fields = changedFields(reader, change);
          if (fields.length === 0) return [[...head, null, null, null, who]];
          return fields.map((field) => [...head, field.label, field.before, field.after, who]);
        });
        before = changes.length < A_BATCH ? 0 : (changes.at(-1)?.seq ?? 0);
      }
    }
    const columns = COLUMNS.map((key) => {
      const name = reader.t(key);
      return { name, heading: name, type: TYPES[key] ?? 'text' };
    });
    const source = { name: 'changes', columns, batches: lines(), dictionary: [] };
    return sendExport(dashboard, request, reply, { source, format, remark: null });
  });
};
