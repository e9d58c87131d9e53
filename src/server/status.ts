import type { Kind } from '../catalog/kind.ts';
import { nextSlots } from '../jobs/schedule.ts';
import type { Schedule, ScheduleSlot } from '../jobs/schedule.ts';
import { readDrift } from '../mirror/kinds/drift-store.ts';
import type { Drift } from '../mirror/kinds/drift-store.ts';
import { outcomeWords } from '../mirror/kinds/outcome-words.ts';
import { countIssues, isFirstReading, readStatus, readUncertified } from '../mirror/kinds/status-store.ts';
import type { IssueCount, KindStatus, UncertifiedKind } from '../mirror/kinds/status-store.ts';
import { readBlocks } from '../mirror/outbox/outbox-queue.ts';
import type { WriteBlock } from '../mirror/outbox/outbox-queue.ts';
import { countEntries } from '../mirror/outbox/outbox-store.ts';
import type { EntryState } from '../mirror/outbox/outbox-store.ts';
import { isLeftToPerson, readDisappeared, readHolds } from '../mirror/records/deletion-store.ts';
import type { Hold, ShownHold } from '../mirror/records/deletion-store.ts';
import { isServed } from '../mirror/runs/worker-store.ts';
import type { Session } from '../mirror/session/session.ts';
import { readDamage } from '../mirror/sqlite/integrity-check.ts';
import type { Damage } from '../mirror/sqlite/integrity-check.ts';
import { failingEndpoints } from '../mirror/webhooks/endpoint-store.ts';
import type { FailingEndpoint } from '../mirror/webhooks/endpoint-store.ts';
import { readFrozen } from '../mirror/outbox/freeze-store.ts';
import type { Frozen } from '../mirror/outbox/freeze-store.ts';

/** How fresh and how sound the mirror is. */
export interface Status {
  readonly database: string;
  readonly kinds: readonly KindStatus[];
  /** Kinds that are not certified: since when, why, and the work that waits for a certificate. */
  readonly uncertified: readonly ExplainedKind[];
  /** Mass disappearances: held, decided by a person, or released automatically. */
  readonly holds: readonly Hold[];
  /** All records that disappeared and are not proven to be gone, with some of their ids: the suspected ones too. */
  readonly disappeared: readonly ShownHold[];
  readonly issues: readonly IssueCount[];
  /** The latest changes in how the service answers, newest first. */
  readonly drift: readonly (Drift & { readonly seenAt: string })[];
  /** How many entries of the outbox are in each state. */
  readonly outbox: Readonly<Record<EntryState, number>>;
  /** Kinds that the service does not allow us to write. */
  readonly blockedKinds: readonly WriteBlock[];
  /** The reason why nothing is sent although writes are on; null if sends are allowed. */
  readonly frozen: Frozen | null;
  /** Webhook endpoints that take no deliveries. */
  readonly failingEndpoints: readonly FailingEndpoint[];
  /** Why the database file is not to be trusted; null where the latest check found nothing. */
  readonly damage: Damage | null;
}

/** How fresh and how sound the mirror is, and what happens next: the document of `bms-sync status --json`. */
export interface StatusReport extends Status {
  /** The schedules of the reading process's settings with their next slots, the earliest first. */
  readonly schedules: readonly ScheduleSlot[];
  /** When these schedules pull each kind next; a kind without a schedule is left out. */
  readonly nextPulls: readonly KindSlot[];
  /** Whether a process is at work that pulls by its schedules. */
  readonly isServed: boolean;
}

/** When `serve` pulls a kind next. */
interface KindSlot {
  readonly kind: string;
  /** The name of the schedule. */
  readonly schedule: string;
  /** UTC. */
  readonly at: string;
}

/** The next pull of each kind that has a schedule, in the order of the kinds. */
export function nextPulls(slots: readonly ScheduleSlot[], kinds: readonly string[]): readonly KindSlot[] {
  return kinds.flatMap((kind) => {
    const slot = slots.find(({ kinds: named }) => named.includes(kind));
    return slot === undefined ? [] : [{ kind, schedule: slot.name, at: slot.at }];
  });
}

const EMPTY_OUTBOX = { ready: 0, sending: 0, unsettled: 0, parked: 0, rejected: 0, done: 0, abandoned: 0 };
const DRIFT_SHOWN = 20;

export async function readMirrorStatus(session: Session, kinds: readonly Kind[]): Promise<Status> {
  const disappeared = await readDisappeared(session);
  const uncertified = (await readUncertified(session)).filter(isListedIn(kinds));
  return {
    database: session.location,
    kinds: inOrder(await readStatus(session), kinds),
    uncertified: inOrder(uncertified, kinds).map((kind) => explained(kind, disappeared)),
    holds: await readHolds(session),
    disappeared,
    issues: await countIssues(session),
    drift: await readDrift(session, DRIFT_SHOWN),
    outbox: { ...EMPTY_OUTBOX, ...(await countEntries(session)) },
    blockedKinds: await readBlocks(session),
    frozen: await readFrozen(session),
    failingEndpoints: await failingEndpoints(session),
    damage: await readDamage(session),
  };
}

interface Outlook {
  readonly schedules: readonly Schedule[];
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
  readonly now: Date;
}

export async function readStatusReport(
  session: Session,
  kinds: readonly Kind[],
  { schedules, isDead, now }: Outlook,
): Promise<StatusReport> {
  const slots = nextSlots(schedules, now);
  const names = kinds.map(({ name }) => name);
  return {
    ...(await readMirrorStatus(session, kinds)),
    ...{ schedules: slots, nextPulls: nextPulls(slots, names) },
    isServed: await isServed(session, 'pulls', { now, isDead }),
  };
}

const isListedIn =
  (kinds: readonly Kind[]) =>
  ({ kind }: Pick<KindStatus, 'kind'>): boolean =>
    kinds.some(({ name, list }) => name === kind && list !== null);

/** A view has no order; readers expect that of the catalogue. */
function inOrder<T extends Pick<KindStatus, 'kind'>>(
  statuses: readonly T[],
  kinds: readonly Kind[],
): readonly T[] {
  const place = new Map(kinds.map(({ name }, index) => [name, index]));
  return statuses.toSorted((a, b) => (place.get(a.kind) ?? 0) - (place.get(b.kind) ?? 0));
}

/** A kind that is not certified, with the reason in words. */
interface ExplainedKind extends Omit<UncertifiedKind, 'detail'> {
  readonly why: string;
  /** The work that the next pull adds or repeats; null if the reason says it. */
  readonly next: string | null;
}

/** Reasons whose words say all that their details say. */
const PLAIN: ReadonlySet<string | null> = new Set(['interrupted', 'busy']);

/** Says why the last sweep of a kind did not certify it, and what the next one can do about it. */
function explained({ detail, ...kind }: UncertifiedKind, disappeared: readonly ShownHold[]): ExplainedKind {
  const { state, reason } = kind;
  const isLeft = isLeftToPerson(disappeared, kind.kind);
  const { why, next } = outcomeWords({
    state,
    reason,
    isFirst: isFirstReading(kind),
    isLeftToPerson: isLeft,
  });
  const isPlain = state === 'complete' || PLAIN.has(reason);
  return { ...kind, why: (isPlain ? why : (detail ?? why)) ?? 'no reason is kept', next };
}
