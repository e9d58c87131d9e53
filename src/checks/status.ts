import type { Kind } from '../catalog/kind.ts';
import { TECHNICAL } from '../lib/text/translator.ts';
import { packageVersion } from '../lib/package-folder.ts';
import { findUnscheduled, nextSlots, type Schedule, type ScheduleSlot } from '../runs/schedule.ts';
import { formatInstant } from '../lib/time/clock.ts';
import { isPassing, readRepeats } from '../store/runs/repeats.ts';
import { readDrift } from '../store/kinds/drift-store.ts';
import { describeOutcome } from '../words/outcome-texts.ts';
import { readVolatile } from '../store/runs/volatile-fields.ts';
import {
  countIssues,
  countSingleRows,
  isFirstReading,
  readFailing,
  readStatus,
  readUncertified,
  type UncertifiedKind,
} from '../store/kinds/status-store.ts';
import { readBlocks } from '../store/outbox/outbox-queue.ts';
import { readUnreadable } from '../store/records/issue-store.ts';
import { countEntries } from '../store/outbox/outbox-store.ts';
import { countMissing, readDisappeared, readHolds, type ShownHold } from '../store/records/deletion-store.ts';
import type { Session } from '../db/session/session.ts';
import { readDamage } from '../store/integrity-check.ts';
import { failingEndpoints } from '../events/webhooks/endpoint-store.ts';
import { readFrozen, type Frozen } from '../store/outbox/freeze-store.ts';
import { readNeeds, type Need, type NeedReader } from '../needs/read-needs.ts';
import { needWords, plainWhy } from '../words/needs.ts';
import { readStale } from './stale-kinds.ts';
import type { StatusDocument } from './status-document.ts';
import { hasOtherSchedules, readServing } from './serving.ts';

/** Returns when `serve` pulls each scheduled kind next (UTC), be it again, and the schedule, in the order of the kinds. */
export function nextPulls(
  slots: readonly ScheduleSlot[],
  kinds: readonly string[],
  repeats: Awaited<ReturnType<typeof readRepeats>>,
) {
  return kinds.flatMap((kind) => {
    const slot = slots.find((slot) => slot.kinds.includes(kind));
    if (slot === undefined) return [];
    const again = repeats.find((repeat) => repeat.kind === kind);
    const at = again === undefined ? slot.at : [formatInstant(again.dueAt), slot.at].sort()[0];
    return [{ kind, schedule: slot.name, at: at ?? slot.at }];
  });
}

/** The kinds that are read again after a failure, those together whose failures are alike and whose next reading is the same one. */
export function describeFailing(
  failing: Awaited<ReturnType<typeof readFailing>>,
  pulls: readonly { readonly kind: string; readonly at: string | null }[],
  translator = TECHNICAL,
) {
  const due = new Map(pulls.map(({ kind, at }) => [kind, at]));
  const passing = failing.flatMap(({ kind, since, ...end }) => {
    const next = due.get(kind);
    const { why } = describeOutcome({ ...end, missing: null }, translator);
    return isPassing(end.reason) && typeof next === 'string' ? [{ kind, since, next, why: why ?? '' }] : [];
  });
  const groups = Map.groupBy(passing, ({ next, why }) => `${next} ${why}`).values();
  return [...groups].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { kind, since, next, why } = first;
    const all = { kinds: [kind, ...others.map((other) => other.kind)], why, next };
    return [{ ...all, since: others.reduce((min, other) => (other.since < min ? other.since : min), since) }];
  });
}

const EMPTY_OUTBOX = { ready: 0, sending: 0, unsettled: 0, parked: 0, rejected: 0, done: 0, abandoned: 0 };
export const DRIFT_SHOWN = 20;

interface Outlook {
  /** Those of the settings. */
  readonly schedules: readonly Schedule[];
  readonly now: Date;
  /** Why sends are paused, or would be once `serve` starts; absent = only what the mirror says. */
  readonly frozen?: Frozen | null;
  readonly needsOfFeatures: NeedReader;
  /** The setting `plans`. */
  readonly plans: { readonly approvals: number };
}

/**
 * Reads how fresh and how sound the mirror is, everything that needs a person, and the schedules; `status-document.ts` describes
 * each member.
 */
export async function readStatusReport(
  session: Session,
  kinds: readonly Kind[],
  outlook: Outlook,
): Promise<StatusDocument> {
  const { schedules, now, frozen = await readFrozen(session) } = outlook;
  const more = await outlook.needsOfFeatures(session, kinds, outlook);
  const serving = await readServing(session);
  const { isSending } = serving;
  const inForce = serving.schedules ?? schedules;
  const repeats = await readRepeats(session);
  const stale = await readStale(session, inForce, { now, repeats });
  const slots = nextSlots(inForce, now);
  const names = kinds.map((kind) => kind.name);
  const pulls = nextPulls(slots, names, repeats);
  const listed = kinds.filter((kind) => kind.list !== null).map((kind) => kind.name);
  const disappeared = await readDisappeared(session);
  const counted: StatusDocument['kinds'][number][] = [];
  for (const kind of sortByCatalogue(await readStatus(session), names))
    counted.push({ ...kind, singleRows: await countSingleRows(session, kind.kind) });
  const uncertified: StatusDocument['uncertified'][number][] = [];
  for (const kind of sortByCatalogue(await readUncertified(session), names))
    if (listed.includes(kind.kind)) uncertified.push(await explainUncertified(session, kind, disappeared));
  return {
    version: packageVersion(),
    database: session.location,
    needs: (await readNeeds(session, stale, { frozen, isSending, repeats, more })).map(needDocument),
    kinds: counted,
    uncertified,
    holds: await readHolds(session),
    disappeared,
    issues: await countIssues(session),
    drift: await readDrift(session, DRIFT_SHOWN),
    outbox: { ...EMPTY_OUTBOX, ...(await countEntries(session)) },
    volatile: await readVolatile(session),
    blockedKinds: await readBlocks(session),
    frozen,
    failingEndpoints: await failingEndpoints(session),
    damage: await readDamage(session),
    schedules: slots,
    nextPulls: pulls,
    failing: serving.isPulling ? describeFailing(await readFailing(session), pulls) : [],
    unscheduled: findUnscheduled(inForce, listed),
    isServed: serving.isPulling,
    isSending,
    schedulesDiffer: hasOtherSchedules(serving, schedules),
  };
}

function needDocument(need: Need): StatusDocument['needs'][number] {
  const words = needWords(need, TECHNICAL);
  const { title, page, command, since } = words;
  return { type: need.type, title, why: plainWhy(words), page, command, since };
}

/** A view has no order; readers expect the order of the catalogue. */
const sortByCatalogue = <T extends { readonly kind: string }>(
  statuses: readonly T[],
  names: readonly string[],
) => statuses.toSorted((a, b) => names.indexOf(a.kind) - names.indexOf(b.kind));

const RECORDS_SHOWN = 20;

/** Explains why the last sweep of a kind did not certify it, and what happens next. */
async function explainUncertified(
  session: Session,
  { detail, ...kind }: UncertifiedKind,
  disappeared: readonly ShownHold[],
) {
  const { state, reason, waiting } = kind;
  const { why, next } = describeOutcome({
    state,
    reason,
    isFirst: isFirstReading(kind),
    missing: countMissing(disappeared, [kind.kind]),
  });
  // The details of these add nothing to their words.
  const isPlain = state === 'complete' || ['interrupted', 'busy', 'unauthorized'].includes(reason ?? '');
  const steps = next === null ? [] : [next];
  const unreadable = await readUnreadable(session, kind.kind);
  const names = unreadable.slice(0, RECORDS_SHOWN).join(', ');
  if (names !== '') steps.push(`These records prevent a certificate: ${names}.`);
  const creates = waiting.unsettledCreates;
  if (creates > 0)
    steps.push(
      `Without a certificate, creates of unknown outcome (${creates}) stay unsettled, and are parked in the end: bms-sync outbox.`,
    );
  const reasonText = (isPlain ? why : (detail ?? why)) ?? 'no reason was recorded';
  return { ...kind, why: reasonText, next: steps.join(' ') || null };
}
