import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRecords } from '../store/records/find-records.ts';
import { findRecord, recordsAfter, type MirroredRecord } from '../store/records/record-store.ts';
import { sendJsonText } from '../http/send.ts';
import { knownKindName, recordIdText, requireKind, wholeNumber } from '../operations/inputs.ts';
import { documentOf, instant, objectNamed } from '../lib/json/document.ts';
import type { RouteContext, Server } from '../http/server.ts';

const recordHead = z.object({
  kind: z.string(),
  id: z.string(),
  deletedAt: instant.nullable().describe('null = live'),
  changedAt: instant,
});

const record = recordHead.extend({
  record: objectNamed('Record').describe('exactly as the service sent it'),
});

const SHOW = {
  summary: 'Read one record',
  operationId: 'showRecord',
  tags: ['Mirror'],
  response: { 200: record },
};

const LIST = {
  summary: 'Read or find records of a kind in the order of their ids',
  operationId: 'listRecords',
  tags: ['Mirror'],
  response: {
    200: z.object({
      records: z.array(record),
      next: z.string().nullable().describe('the next value of `after`; null = these are the last'),
    }),
  },
};

/** The routes of records, as the service sent them. */
export function recordRoutes(app: Server, context: RouteContext): void {
  const { session, kinds } = context;
  const querystring = z.strictObject({
    q: z
      .string()
      .max(100)
      .optional()
      .describe('the id, or words that stand in code, name, phone number or e-mail'),
    after: recordIdText.optional().describe('only records with a higher id'),
    limit: wholeNumber(1, 1000).default(100),
  });
  const list = { ...LIST, params: z.strictObject({ kind: knownKindName(kinds) }), querystring };
  app.get('/v1/records/:kind', { schema: list }, async (request, reply) => {
    const kind = requireKind(kinds, request.params.kind);
    const { q: text, after, limit } = request.query;
    const range = { after, limit: limit + 1 };
    const rows =
      text === undefined
        ? await recordsAfter(session, kind.name, range)
        : await findRecords(session, kind, { text, ...range });
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
    const records = page.map((row) => recordText(kind.name, row)).join();
    return sendJsonText(reply, `{"records":[${records}],"next":${JSON.stringify(next)}}`);
  });

  const show = { ...SHOW, params: z.strictObject({ kind: knownKindName(kinds), id: recordIdText }) };
  app.get('/v1/records/:kind/:id', { schema: show }, async ({ params: { kind: name, id } }, reply) => {
    const kind = requireKind(kinds, name).name;
    const record = await findRecord(session, kind, id);
    if (record === null)
      throw new SyncError(`The mirror does not have record ${id} of ${kind}.`, { code: 'record.absent' });
    return sendJsonText(reply, recordText(kind, record));
  });
}

/** Spliced in as stored: parsing and writing it again could change its numbers and the order of its keys. */
function recordText(kind: string, record: MirroredRecord): string {
  const head = JSON.stringify(documentOf(recordHead, { kind, ...record }));
  return `${head.slice(0, -1)},"record":${record.raw}}`;
}
