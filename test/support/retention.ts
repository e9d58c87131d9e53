import { TABLE_OWNERS } from '../../src/feature-hooks.ts';
import type { Retention } from '../../src/pull/retention.ts';

/** Removes nothing. */
export const KEEP_ALL: Retention = {
  changesDays: null,
  runsDays: null,
  outboxDays: null,
  issuesDays: null,
  deliveriesDays: null,
  owners: TABLE_OWNERS,
};
