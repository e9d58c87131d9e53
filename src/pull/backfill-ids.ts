import { askableKind, isListed } from '../catalog/kind.ts';
import type { Kind, ListedKind } from '../catalog/kind.ts';
import { sortPage } from '../diff/judge-page.ts';
import type { SortedPage } from '../diff/judge-page.ts';
import { requireCompanies, requireCompany } from './land/guard-source.ts';
import { inDraft } from './land/land-pages.ts';
import type { LandingAnswer } from './land/compare-records.ts';
import { landRecords } from './land/land-records.ts';
import type { LandedRecords } from './land/land-records.ts';
import type { PullParts } from './run/parts.ts';
import type { Tally } from './land/tally.ts';
import type { Sweep } from './run/sweep.ts';

const ASKED_TOGETHER = 50;

/** Reads records by their ids and lands them. A kind without single retrieval is read page by page instead. */
export async function backfillIds(
  parts: PullParts,
  work: BackfillWork,
  kind: Kind,
  ids: readonly string[],
): Promise<void> {
  const askable = askableKind(kind);
  if (askable === null) return isListed(kind) ? lookForIds(parts, work, kind, new Set(ids)) : undefined;
  const { ticks, tenants } = work.sweep;
  for (let from = 0; from < ids.length; from += ASKED_TOGETHER) {
    const some = ids.slice(from, from + ASKED_TOGETHER);
    const options = { tick: ticks.next, signal: parts.signal };
    const answers = await Promise.all(some.map((id) => parts.source.retrieve(askable, id, options)));
    const records = answers.flatMap(({ record }) => record ?? []);
    requireCompany({ kind, tenants }, { isKnown: false, read: () => records });
    const shown = answers.flatMap(({ record, ...ticks }) =>
      record === null ? [] : [{ ...sortPage([record]), ...ticks }],
    );
    for (const [index, id] of some.entries()) if (answers[index]?.record === null) work.missing.push(id);
    await land(parts, work, shown, false);
    parts.onProgress?.({ kind: kind.name, pages: from + some.length, lastPage: ids.length });
  }
}

async function lookForIds(
  parts: PullParts,
  work: BackfillWork,
  kind: ListedKind,
  wanted: Set<string>,
): Promise<void> {
  const { ticks, tenants } = work.sweep;
  const options = { tick: ticks.next, signal: parts.signal };
  const pages = parts.source.pages(kind, { from: 1, to: Infinity }, options);
  for await (const response of requireCompanies(pages, { kind, tenants })) {
    const { incoming, quarantined } = sortPage(response.read());
    const found = {
      incoming: incoming.filter(({ id }) => wanted.has(id)),
      quarantined: quarantined.filter(({ id }) => id !== null && wanted.has(id)),
    };
    for (const { id } of [...found.incoming, ...found.quarantined]) if (id !== null) wanted.delete(id);
    await land(parts, work, [{ ...response, ...found }], true);
    parts.onProgress?.({ kind: kind.name, pages: response.page, lastPage: response.plan.lastPage });
    if (wanted.size === 0) return;
  }
  for (const id of wanted) work.missing.push(id);
}

async function land(
  { session, clock }: PullParts,
  { sweep, tally }: BackfillWork,
  answers: readonly (SortedPage & LandingAnswer)[],
  isListed: boolean,
): Promise<void> {
  const landings = await inDraft(session, sweep, { now: clock.now(), isListed }, async (tx, draft) => {
    const landed: LandedRecords[] = [];
    for (const answer of answers) landed.push(await landRecords(tx, draft, answer, answer));
    return landed;
  });
  for (const [index, landed] of landings.entries())
    tally.addRecords(answers[index]?.incoming.map(({ id }) => id) ?? [], landed);
}

/** A backfill under way. */
export interface BackfillWork {
  readonly sweep: Sweep;
  readonly tally: Tally;
  readonly missing: string[];
}
