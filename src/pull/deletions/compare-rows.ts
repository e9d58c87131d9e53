import { compareLive } from '../../diff/compare-live.ts';
import type { Session } from '../../mirror/session/session.ts';
import { liveIds } from '../../mirror/records/record-store.ts';
import type { ListVerdict } from '../state/certify-list.ts';
import type { Sweep } from '../state/sweep.ts';

/** The differences between a mirror's live rows and the ids that a list has shown. */
interface RowsApart {
  /** Live rows that a certified list does not have, and that nothing has shown since. */
  readonly outside: readonly string[];
  /** Records that the sweep has shown, and that have no live row. */
  readonly missing: readonly string[];
}

/** Compares all live rows with the list that was read, in one scan of their ids. */
export async function compareRows(
  session: Session,
  { kind, began }: Sweep,
  { verdict, spans }: ListVerdict,
): Promise<RowsApart> {
  const certificate = verdict.certified ? verdict : null;
  const comparison = compareLive({ spans, certificate, began: began ?? 0 });
  for await (const ids of liveIds(session, kind.name)) comparison.take(ids);
  return { outside: comparison.outside(), missing: comparison.missing() };
}
