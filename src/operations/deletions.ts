import * as z from 'zod';
import { decideHold } from '../store/records/hold-store.ts';
import { kindText, requireKind } from './inputs.ts';
import { operation, type OperationContext } from './operation.ts';

const input = z.strictObject({
  kind: kindText,
  only: z.string().max(100).optional().describe('a check from the list, for exactly its records; no ids'),
});
const answer = z.object({
  kind: z.string(),
  decision: z.enum(['approved', 'rejected']),
  records: z.int(),
  newer: z.int().optional().describe('more records that are on hold since then'),
});

const decide =
  (decision: 'approved' | 'rejected') =>
  ({ session, kinds }: OperationContext, { kind, only }: z.output<typeof input>) =>
    session.atomically((tx) => decideHold(tx, requireKind(kinds, kind).name, decision, only));

export const approveDeletions = operation({
  path: '/deletions/:kind/approve',
  role: 'operator',
  summary: 'each record is marked as deleted once the service proves that it is gone',
  notice: 'Approved: each record is marked as deleted once the service proves that it is gone.',
  input,
  answer,
  run: decide('approved'),
});

export const rejectDeletions = operation({
  path: '/deletions/:kind/reject',
  role: 'operator',
  summary: 'the records stay live',
  notice: 'Rejected: the records stay live. To undo this, approve the deletions.',
  input,
  answer,
  run: decide('rejected'),
});

export const deletionOperations = [approveDeletions, rejectDeletions];
