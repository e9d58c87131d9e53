import { z } from 'zod';
import { STATES } from '../../outbound/report/entry-list.ts';
import { instant } from '../fields.ts';

const state = z.enum(STATES);
const operation = z.enum(['create', 'update']);
const json = z.any().describe('JSON');

/** An entry in a list. */
export const entry = z.object({
  id: z.int(),
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  state,
  verdict: z.string().nullable().describe('a stable word: why it is where it is'),
  meaning: z.string(),
  attempts: z.int(),
  nextAttemptAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
  payload: json,
  result: json,
});

const attempt = z.object({
  n: z.int(),
  openedAt: instant,
  closedAt: instant.nullable(),
  grade: z.string().nullable(),
  status: z.int().nullable(),
  request: z.string(),
  responseStart: z.string().nullable(),
});

/** An entry with all its attempts. */
export const history = entry.extend({
  next: z.array(z.string()).describe('what a person can do'),
  owner: z.string().nullable(),
  naturalKey: z.string().nullable(),
  allowUnknown: z.boolean().describe('fields that nobody knows are sent, too'),
  isMaker: z.boolean(),
  base: json,
  preimage: json,
  history: z.array(attempt),
});

/** An entry just stored, or stored before under the same key. */
export const stored = z.object({
  id: z.int(),
  state,
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  isNew: z.boolean(),
  notes: z.array(z.string()),
});

/** An entry after a person's decision. */
export const decided = entry.extend({ warning: z.string().nullable() });
