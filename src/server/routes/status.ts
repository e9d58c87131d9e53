import { z } from 'zod';
import { sendJsonText } from '../answer/json.ts';
import { instant } from '../fields.ts';
import { PAGE_CONTENT } from '../openapi/problems.ts';
import { sendPage } from '../pages/page.ts';
import { statusPage } from '../pages/status-page.ts';
import type { Context, Server } from '../server.ts';
import { readMirrorStatus } from '../status.ts';
import { STATES } from '../../outbound/entry-list.ts';

const kindStatus = z.object({
  kind: z.string(),
  state: z.string().describe('never, running, or how the last sweep ended'),
  reason: z.string().nullable(),
  rows: z.int(),
  last_sweep_at: instant.nullable(),
  certified_at: instant.nullable(),
  lag_seconds: z.int().nullable(),
  last_change_at: instant.nullable(),
  open_issues: z.int(),
  held_deletions: z.int(),
});

const issueCount = z.object({
  kind: z.string(),
  field: z.string().nullable(),
  code: z.string(),
  count: z.int(),
});

const drift = z.object({
  kind: z.string(),
  code: z.string(),
  field: z.string().nullable(),
  detail: z.string(),
  seenAt: instant,
});

export const writeBlock = z.object({
  kind: z.string(),
  reason: z.string(),
  since: instant,
  probeAt: instant,
});

export const frozen = z.object({ reason: z.string(), since: instant }).nullable();

const status = z.object({
  database: z.string(),
  kinds: z.array(kindStatus),
  issues: z.array(issueCount),
  drift: z.array(drift),
  outbox: z.record(z.enum(STATES), z.int()),
  blockedKinds: z.array(writeBlock),
  frozen,
});

const page = {
  ...{ summary: 'Show the status to people', tags: ['Mirror'] },
  response: { 200: { description: 'The page', content: PAGE_CONTENT } },
};

/** How fresh and how sound the mirror is, for programs and for people. */
export function statusRoutes(app: Server, { session, kinds }: Context): void {
  app.get(
    '/v1/status',
    {
      schema: {
        summary: 'Tell how fresh and how sound the mirror is',
        tags: ['Mirror'],
        response: { 200: status },
      },
    },
    async (_request, reply) => sendJsonText(reply, JSON.stringify(await readMirrorStatus(session, kinds))),
  );
  app.get('/', { config: { signsIn: true }, schema: page }, async (_request, reply) =>
    sendPage(reply, 'bms-sync', statusPage(await readMirrorStatus(session, kinds))),
  );
}
