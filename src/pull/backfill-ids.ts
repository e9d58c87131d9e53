import { isListed } from '../catalog/kind.ts';
import type { Kind, ListedKind, RetrievableKind } from '../catalog/kind.ts';
import { sortPage } from '../diff/judge-page.ts';
import type { Incoming } from '../diff/judge-page.ts';
import { renewLease } from '../mirror/kind-lease.ts';
import { saveCursor } from '../mirror/run-store.ts';
import { bindSource } from '../mirror/source-binding.ts';
import { askableKind } from './ask-for-absent.ts';
import type { BackfillWork } from './backfill.ts';
import { checkSystem, namesCompany, sameSource } from './guard-source.ts';
import { landRecords } from './land-records.ts';
import type { Landed, Shown } from './land-records.ts';
import type { PullParts } from './parts.ts';

const ASKED_TOGETHER = 50;

export interface WantedIds {
  readonly kind: Kind;
  readonly ids: readonly string[];
}

/** Reads records by their ids and lands them; a kind that cannot be asked for one record is read page by page for them. */
export async function backfillIds(
  parts: PullParts,
  work: BackfillWork,
  { kind, ids }: WantedIds,
): Promise<void> {
  const askable = askableKind(kind);
  if (askable !== null) await askForIds(parts, work, { kind: askable, ids });
  else if (isListed(kind)) await lookForIds(parts, work, { kind, ids });
}

async function askForIds(
  parts: PullParts,
  work: BackfillWork,
  { kind, ids }: WantedIds & { readonly kind: RetrievableKind },
): Promise<void> {
  for (let from = work.done; from < ids.length; from += ASKED_TOGETHER) {
    const some = ids.slice(from, from + ASKED_TOGETHER);
    const { ticks } = work.sweep;
    const options = { tick: ticks.next, signal: parts.signal };
    const answers = await Promise.all(some.map((id) => parts.source.retrieve(kind, id, options)));
    const shown = answers.flatMap(({ record, sent, answered }) =>
      record === null ? [] : [{ ...sortPage([record]), sent, answered }],
    );
    if (namesCompany(kind))
      checkSystem(
        work.sweep.claim,
        answers.flatMap(({ record }) => record ?? []),
      );
    const missing = some.filter((_, index) => answers[index]?.record === null);
    const cursor = from + some.length;
    await land(parts, work, { answers: shown, missing, cursor, isListed: false });
    parts.onProgress?.({ kind: kind.name, pages: cursor, lastPage: ids.length });
  }
}

async function lookForIds(
  { session, source, signal, ...parts }: PullParts,
  work: BackfillWork,
  { kind, ids }: WantedIds & { readonly kind: ListedKind },
): Promise<void> {
  const wanted = new Set(ids);
  const { ticks, claim } = work.sweep;
  const pages = source.pages(kind, { from: 1, to: Infinity }, { tick: ticks.next, signal });
  for await (const response of sameSource(pages, { session, kind, claim })) {
    const { incoming } = sortPage(response.read());
    const found = incoming.filter(({ id }) => wanted.has(id));
    for (const { id } of found) wanted.delete(id);
    const answers = [{ ...response, incoming: found }];
    await land({ session, source, ...parts }, work, { answers, missing: [], cursor: 0, isListed: true });
    parts.onProgress?.({ kind: kind.name, pages: response.page, lastPage: response.plan.lastPage });
    if (wanted.size === 0) return;
  }
  work.missing.push(...wanted);
}

interface Found extends Pick<Shown, 'sent' | 'answered' | 'isListed'> {
  readonly incoming: readonly Incoming[];
}

interface Answered {
  readonly answers: readonly Omit<Found, 'isListed'>[];
  readonly missing: readonly string[];
  readonly cursor: number;
  readonly isListed: boolean;
}

async function land(
  { session, clock }: PullParts,
  work: BackfillWork,
  { answers, missing, cursor, isListed: isFromList }: Answered,
): Promise<void> {
  const { sweep, tally } = work;
  const now = clock.now();
  const all = await session.atomically(async (tx) => {
    await renewLease(tx, sweep.lease, { tick: sweep.ticks.latest(), now });
    if (!sweep.claim.isBound) await bindSource(tx, sweep.claim);
    await saveCursor(tx, sweep.runId, String(cursor));
    const landed: Landed[] = [];
    for (const { incoming, sent, answered } of answers)
      landed.push(
        await landRecords(tx, sweep, { records: incoming, sent, answered, isListed: isFromList, now }),
      );
    return landed;
  });
  sweep.claim.isBound = true;
  for (const [index, landed] of all.entries())
    tally.addRecords(answers[index]?.incoming.map(({ id }) => id) ?? [], landed);
  work.missing.push(...missing);
}
