import type { ListedKind } from '../../catalog/kind.ts';
import { instantOf } from '../../lib/clock.ts';
import type { KindReport } from '../../mirror/runs/run-store.ts';

/** The database's instants are UTC by contract; a reader of a report must not take them for local time. */
export function withZone(report: KindReport): KindReport {
  const { certifiedAt } = report;
  return { ...report, certifiedAt: certifiedAt === null ? null : instantOf(certifiedAt).toISOString() };
}

/** Reports a kind that a run did not reach. */
export function notSwept({ name }: ListedKind, why: Pick<KindReport, 'reason' | 'detail'>): KindReport {
  const rows = { rows: 0, created: 0, updated: 0, deleted: 0, restored: 0, unchanged: 0, quarantined: 0 };
  const traffic = { pages: 0, requests: 0, retries: 0, durationMs: 0 };
  return { kind: name, state: 'aborted', ...why, certifiedAt: null, ...rows, ...traffic };
}
