import { isListed } from '../../catalog/kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { saveCursor } from '../../mirror/runs/run-store.ts';
import { arrivedTogether } from '../land/arrived-together.ts';
import type { BackfillWork } from './backfill-work.ts';
import { requireCompanies } from '../tenant/guard-source.ts';
import { TOGETHER, landPages } from '../land/land-pages.ts';
import type { PullParts } from '../run/parts.ts';

/** Reads pages of a list and lands them; each batch saves the cursor. */
export async function backfillPages(
  parts: PullParts,
  { sweep, tally, done }: BackfillWork,
  { kind, range }: { readonly kind: Kind; readonly range: { readonly from: number; readonly to: number } },
): Promise<void> {
  if (!isListed(kind)) return;
  const rest = { from: Math.max(range.from, done + 1), to: range.to };
  const { session, source, clock, onProgress, signal } = parts;
  const { ticks, runId } = sweep;
  const responses = source.pages(kind, rest, { tick: ticks.next, signal });
  const ours = requireCompanies(responses, { kind, tenants: sweep.tenants });
  for await (const batch of arrivedTogether(ours, TOGETHER)) {
    const landings = await landPages(session, sweep, { responses: batch, now: clock.now() });
    for (const landing of landings) tally.add(landing);
    const page = batch.at(-1)?.page ?? done;
    await session.atomically((tx) => saveCursor(tx, runId, String(page)));
    onProgress?.({ kind: kind.name, pages: page, lastPage: batch.at(-1)?.plan.lastPage ?? null });
  }
}
