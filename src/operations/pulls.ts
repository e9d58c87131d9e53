import * as z from 'zod';
import { INTERFACES } from '../store/users/decision-store.ts';
import { requestPull } from '../store/runs/run-requests.ts';
import { kindText, pulledKinds } from './inputs.ts';
import { operation } from './operation.ts';

export const pullOperation = operation({
  name: 'pull',
  path: '/pulls',
  role: 'operator',
  words: {
    summary: 'request a pull of these kinds (default: all)',
    notice: 'Pull requested. It starts as soon as a background service is free.',
  },
  input: z.strictObject({
    kinds: z
      .array(kindText)
      .max(1000)
      .or(kindText.transform((kind) => [kind])) // As a form sends one.
      .default([]),
  }),
  answer: z.object({ runId: z.int(), state: z.literal('requested'), kinds: z.array(z.string()) }),
  status: 202,
  run: async (context, input) => {
    const { session, clock, by } = context;
    const kinds = pulledKinds(context.kinds, input.kinds);
    await session.makeDurable(); // The caller will not ask again, so the request must survive a power cut.
    const pull = { kinds, request: INTERFACES[by.via], now: clock.now() };
    const runId = await session.atomically((tx) => requestPull(tx, pull));
    return { runId, state: 'requested' as const, kinds };
  },
});
