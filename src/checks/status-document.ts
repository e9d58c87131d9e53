import * as z from 'zod';
import { instant, type DocumentOf } from '../lib/json/document.ts';
import { stopped, writeBlock } from '../outbound/decisions/entry-document.ts';
import { ENTRY_STATES } from '../outbound/decisions/entry-list.ts';

const kindStatus = z.object({
  kind: z.string(),
  state: z.string().describe('never, running, or how the last sweep ended'),
  reason: z.string().nullable(),
  rows: z.int(),
  singleRows: z.int().describe('those of them that single answers alone have shown, and no list'),
  lastSweepAt: instant.nullable(),
  certifiedAt: instant.nullable(),
  lagSeconds: z.int().nullable(),
  lastChangeAt: instant.nullable(),
  openIssues: z.int(),
  heldDeletions: z.int(),
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

const need = z.object({
  type: z.string().describe('a stable word, as that of a notification: kind.held'),
  title: z.string(),
  why: z.string(),
  page: z.string().describe('the page of the dashboard that shows it'),
  command: z.string().describe('what to do on the command line'),
  since: instant.nullable(),
});

const ABSENCES = ['suspected', 'held', 'approved', 'rejected'] as const;

const hold = z.object({ kind: z.string(), state: z.enum(ABSENCES), records: z.int(), since: instant });

/** Records of a kind that disappeared, and are in the same state. */
const disappeared = hold.extend({
  ids: z.array(z.string()).describe('some of the records'),
  check: z.string().optional().describe('names exactly these records: `only` of an approval'),
  why: z.string().optional().describe('why they need a person: a stable code, with a figure after a colon'),
});

/** Mass disappearances and the decisions on them. */
export const disappearances = z.object({
  deletions: z.array(disappeared),
  suspected: z.array(disappeared).describe('few at once: they wait for proof alone'),
});

const schedule = z.object({
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  kinds: z.array(z.string()),
  at: instant,
});

/** The document of `GET /v1/status` and of `bms-sync status --json`. */
export const statusDocument = z.object({
  version: z.string().describe('of the bms-sync that answers'),
  database: z.string(),
  needs: z.array(need).describe('what does not go on without a person, the most urgent first'),
  kinds: z.array(kindStatus),
  uncertified: z.array(uncertifiedKind),
  holds: z.array(hold),
  disappeared: z.array(disappeared),
  issues: z.array(
    z.object({ kind: z.string(), field: z.string().nullable(), code: z.string(), count: z.int() }),
  ),
  drift: z.array(
    z.object({
      seenAt: instant,
      kind: z.string(),
      code: z.string(),
      field: z.string().nullable(),
      detail: z.string(),
    }),
  ),
  outbox: z.record(z.enum(ENTRY_STATES), z.int()),
  volatile: z
    .object({ fields: z.array(z.string()), setting: z.string() })
    .nullable()
    .describe('fields that change with every sweep, and the line of the settings that ignores their changes'),
  blockedKinds: z.array(writeBlock),
  frozen: stopped,
  failingEndpoints: z.array(
    z.object({
      name: z.string(),
      health: z.enum(['failing', 'disabled']),
      reason: z.string().nullable().describe('why it is disabled'),
      since: instant.nullable(),
    }),
  ),
  damage: stopped,
  schedules: z
    .array(schedule)
    .describe('the schedules of the process that pulls, or else of these settings; the next one first'),
  nextPulls: z
    .array(z.object({ kind: z.string(), schedule: z.string(), at: instant }))
    .describe('when these schedules pull each kind next'),
  failing: z
    .array(z.object({ kinds: z.array(z.string()), why: z.string(), since: instant, next: instant }))
    .describe('these lists could not be read: why, since when, and when `serve` reads them again by itself'),
  unscheduled: z.array(z.string()).describe('kinds that no schedule pulls; they are never stale'),
  isServed: z.boolean().describe('a process is at work that pulls by its schedules'),
  isSending: z.boolean().describe('a process is at work that sends; if not, due entries are `writes_off`'),
  schedulesDiffer: z.boolean().describe('it pulls by other schedules than those of these settings'),
});

export type StatusDocument = DocumentOf<typeof statusDocument>;
