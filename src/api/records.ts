import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRecord } from '../mirror/records/record-store.ts';
import { sendJsonText } from '../http/send.ts';
import { kindName, recordId, requireKind } from '../operations/inputs.ts';
import { instant, jsonObject } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const record = z.object({
  kind: z.string(),
  id: z.string(),
  deletedAt: instant.nullable().describe('null = live'),
  changedAt: instant,
  record: jsonObject.describe('exactly as the service sent it'),
});

const SCHEMA = {
  summary: 'Read one record',
  operationId: 'showRecord',
  tags: ['Mirror'],
  response: { 200: record },
};

/** The route of one record, as the service sent it. */
export function recordRoutes(app: Server, { session, kinds }: RouteContext): void {
  const schema = { ...SCHEMA, params: z.strictObject({ kind: kindName(kinds), id: recordId }) };
  app.get('/v1/records/:kind/:id', { schema }, async ({ params: { kind: name, id } }, reply) => {
    const kind = requireKind(kinds, name).name;
    const found = await findRecord(session, kind, id);
    if (found === null)
      throw new SyncError(`The mirror does not have record ${id} of ${kind}.`, { code: 'record.absent' });
    const { raw, deletedAt, changedAt } = found;
    // Spliced in as stored: parsing and writing it again could change its numbers and the order of its keys.
    const head = JSON.stringify({ kind, id, deletedAt, changedAt });
    return sendJsonText(reply, `${head.slice(0, -1)},"record":${raw}}`);
  });
}
