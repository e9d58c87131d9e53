import * as z from 'zod';
import { writeExtent } from '../runs/extent.ts';
import { requestPull, requestRun } from '../store/runs/run-requests.ts';
import { hasLiveRole } from '../store/runs/worker-store.ts';
import { INTERFACES } from '../store/users/decision-store.ts';
import { flag, kindText, pulledKinds, recordIdOrNumber, requireKind } from './inputs.ts';
import { operation, type OperationContext } from './operation.ts';

const requestedRun = z.object({
  runId: z.int(),
  state: z.literal('requested'),
  warning: z
    .string()
    .nullable()
    .describe('why it does not begin soon; null if a background service works it'),
});

const pullOperation = operation({
  name: 'pull',
  path: '/pulls',
  role: 'operator',
  summary: 'request a pull of these kinds (default: all)',
  notice: 'Pull requested. It starts as soon as a background service is free.',
  input: z.strictObject({
    kinds: z
      .array(kindText)
      .max(1000)
      .or(kindText.transform((kind) => [kind])) // As a form sends one.
      .default([]),
  }),
  answer: requestedRun.extend({ kinds: z.array(z.string()) }),
  status: 202,
  run: async (context, input) => {
    const { session, clock, by } = context;
    const kinds = pulledKinds(context.kinds, input.kinds);
    const pull = { kinds, request: INTERFACES[by.via], now: clock.now() };
    const runId = await session.atomically((tx) => requestPull(tx, pull));
    return { ...(await asRequested(context, runId)), kinds };
  },
});

const backfillOperation = operation({
  name: 'backfill',
  path: '/backfills',
  role: 'operator',
  summary: 'request that records of a kind are read again: by id, by page of the list, or all',
  notice: 'Reading again requested. It starts as soon as a background service is free.',
  input: z.strictObject({
    kind: kindText,
    ids: z
      .array(recordIdOrNumber)
      .transform((ids) => ids.join(','))
      .or(z.string().max(200_000))
      .optional()
      .describe('ids and ranges of ids: 1,5-9; 10,000 at most'),
    pages: z.string().max(40).optional().describe('a range of pages of the list: 1-20'),
    all: flag.describe('the whole list, every page parsed'),
  }),
  answer: requestedRun.extend({ kind: z.string(), extent: z.string() }),
  status: 202,
  run: async (context, input) => {
    const { session, clock } = context;
    const kind = requireKind(context.kinds, input.kind);
    const extent = writeExtent(kind, input);
    const wanted = { command: 'backfill', kinds: [kind.name], request: extent, now: clock.now() } as const;
    const runId = await session.atomically((tx) => requestRun(tx, wanted));
    return { ...(await asRequested(context, runId)), kind: kind.name, extent };
  },
});

export const pullOperations = [pullOperation, backfillOperation];

async function asRequested({ session }: OperationContext, runId: number) {
  const isServed = await hasLiveRole(session, 'pulls');
  const warning = isServed
    ? null
    : 'No background service reads the service now: it waits until bms-sync serve runs.';
  return { runId, state: 'requested' as const, warning };
}
