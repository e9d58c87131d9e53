import * as z from 'zod';
import { STATES } from '../outbound/decisions/entry-list.ts';
import { sendJsonText } from '../http/send.ts';
import { instant } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { readStatusReport } from '../checks/status.ts';

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

const uncertifiedKind = z.object({
  kind: z.string(),
  since: instant.nullable().describe('the list was known exactly then, and not since; null = never'),
  state: z.string().describe('how the last sweep ended'),
  sweeps: z.int().describe('complete sweeps running that did not certify it'),
  reason: z.string().nullable(),
  why: z.string(),
  next: z.string().nullable().describe('what the next pull adds or repeats, in words'),
  waiting: z.object({ suspectedDeletions: z.int(), heldDeletions: z.int(), unsettledCreates: z.int() }),
});

export const hold = z.object({
  kind: z.string(),
  state: z.enum(['held', 'approved', 'released', 'rejected']),
  records: z.int(),
  since: instant,
});

const disappeared = hold.extend({
  state: z.enum(['suspected', 'held', 'approved', 'released', 'rejected']),
  ids: z.array(z.string()).describe('some of the records'),
  check: z.string().optional(),
  why: z.string().optional(),
});

export const writeBlock = z.object({
  kind: z.string(),
  reason: z.string(),
  since: instant,
  probeAt: instant,
});

export const frozen = z.object({ reason: z.string(), since: instant }).nullable();

const status = z.object({
  version: z.string().describe('of the bms-sync that answers'),
  database: z.string(),
  kinds: z.array(kindStatus),
  uncertified: z.array(uncertifiedKind),
  holds: z.array(hold),
  disappeared: z.array(disappeared),
  issues: z.array(z.looseObject({ kind: z.string(), code: z.string(), count: z.int() })),
  drift: z.array(z.looseObject({ kind: z.string(), code: z.string(), seenAt: instant })),
  outbox: z.record(z.enum(STATES), z.int()),
  volatile: z
    .object({ fields: z.array(z.string()), setting: z.string() })
    .nullable()
    .describe('fields that change with every sweep, and the line of the settings that ignores their changes'),
  blockedKinds: z.array(writeBlock),
  frozen,
  failingEndpoints: z.array(
    z.object({
      name: z.string(),
      health: z.enum(['failing', 'disabled']),
      reason: z.string().nullable().describe('why it is disabled'),
      since: instant.nullable(),
    }),
  ),
  damage: z.object({ reason: z.string(), since: instant }).nullable(),
  schedules: z
    .array(z.looseObject({ name: z.string(), at: instant }))
    .describe('the schedules of the process that pulls, or else of these settings; the next one first'),
  nextPulls: z
    .array(z.looseObject({ kind: z.string(), schedule: z.string(), at: instant }))
    .describe('when these schedules pull each kind next'),
  isServed: z.boolean().describe('a process is at work that pulls by its schedules'),
  schedulesDiffer: z.boolean().describe('it pulls by other schedules than those of these settings'),
});

const schema = {
  summary: 'Tell how fresh and how sound the mirror is',
  tags: ['Mirror'],
  response: { 200: status },
};

/** How fresh and how sound the mirror is. */
export function statusRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock } = context;
  app.get('/v1/status', { schema }, async (_request, reply) => {
    const report = await readStatusReport(session, kinds, { ...context, now: clock.now() });
    return sendJsonText(reply, JSON.stringify(report));
  });
}
