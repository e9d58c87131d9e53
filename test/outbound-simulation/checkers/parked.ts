import { isRefusal } from '../fates.ts';
import type { EntryRecord, Recording } from '../recording.ts';
import type { Deed } from '../writable-world.ts';
import { madeBy, wasAmbiguous } from './creates.ts';
import { finding } from './finding.ts';
import type { Finding } from './finding.ts';

/** Entries that were put before a person though nothing has happened that a person must decide. */
export function needlesslyParked(recording: Recording): readonly Finding[] {
  return recording.entries
    .filter(({ entry }) => entry.state === 'parked' || entry.state === 'rejected')
    .filter((one) => !isJustified(recording, one))
    .map(({ entry }) =>
      finding('needlessly parked', entry.id, `${entry.state} ${entry.verdict ?? ''} ${entry.result ?? ''}`),
    );
}

type Reason = (recording: Recording, one: EntryRecord) => boolean;

const REASONS: Readonly<Record<string, Reason>> = {
  twins: (recording, one) => wasLost(recording, one) && hasEqual(recording, one),
  look_alike: (recording, one) => wasLost(recording, one) && isHardToTell(recording, one),
  lost_twice: (_recording, { attempts }) => attempts.filter(({ grade }) => grade === 'ambiguous').length > 1,
  alters_keys: (recording, one) =>
    wasLost(recording, one) && (normalizes(recording, one) || isKindBent(recording, one)),
  repeats: (recording, one) => wasLost(recording, one) && one.intent.kind === 'purchase_products',
  existed: hasEqual,
  service_refused: (recording, one) => wasRefused(recording, one) || isGone(recording, one),
  gone: isGone,
  conflict: (recording, one) =>
    others(recording, one).length > 0 || (wasAmbiguous(recording, one) && normalizes(recording, one)),
  not_applied: (recording, one) =>
    others(recording, one).length > 0 ||
    sendsOf(recording, one).some(({ fate }) => fate === 'ignores a field' || fate === 'says failed') ||
    normalizes(recording, one),
  no_certificate: (recording, one) => wasLost(recording, one) && isUnprovable(recording, one.intent.kind),
  no_answer: (_recording, one) => one.attempts.length >= 10,
};

/** A refusal may have been carried out: it counts where a person has had it tried again. */
const wasLost: Reason = (recording, one) => wasAmbiguous(recording, one) || wasRefused(recording, one);

const wasRefused: Reason = (recording, one) =>
  sendsOf(recording, one).some(({ fate }) => fate !== 'refused' && isRefusal(fate));

const isJustified: Reason = (recording, one) => REASONS[one.entry.verdict ?? '']?.(recording, one) ?? false;

const sendsOf = ({ sends }: Recording, { entry }: EntryRecord) =>
  sends.filter((send) => send.entry === entry.id);

function deedsOn({ services }: Recording, { intent }: EntryRecord): readonly Deed[] {
  return services.find(({ name }) => name === intent.kind)?.world.deeds ?? [];
}

/** A list that came whole, without a word of its length, and had as many rows as a page may have. */
export function isUnprovable({ services, schedule }: Recording, kind: string): boolean {
  const plan = schedule.kinds.find(({ name }) => name === kind);
  const world = services.find(({ name }) => name === kind)?.world;
  if (world === undefined || plan?.hasMeta !== false) return false;
  return world.deeds.some(({ atMs }) => [10, 20, 25, 30].includes(world.listAt(atMs).length));
}

/** Records that others have made since the schedule began: nobody can know that they are not ours. */
function madeByOthers(recording: Recording, one: EntryRecord): readonly Deed[] {
  const ours = new Set(madeBy(recording, one));
  return deedsOn(recording, one).filter(
    ({ is, doer, id }) => is === 'created' && doer !== 'before' && !ours.has(id),
  );
}

function hasEqual(recording: Recording, one: EntryRecord): boolean {
  return madeByOthers(recording, one).length > 0 || madeBy(recording, one).length > 1;
}

function isHardToTell(recording: Recording, one: EntryRecord): boolean {
  const ours = new Set(madeBy(recording, one));
  const isEdited = deedsOn(recording, one).some(({ is, id }) => is === 'edited' && ours.has(id));
  const isBent = sendsOf(recording, one).some(({ fate }) => fate === 'ignores a field');
  return normalizes(recording, one) || isEdited || isBent || madeByOthers(recording, one).length > 0;
}

/** The service has once ignored a field of some create of the kind, perhaps one of its natural key. */
const isKindBent: Reason = ({ sends }, { intent }) =>
  sends.some(({ kind, fate }) => kind === intent.kind && fate === 'ignores a field');

const normalizes: Reason = ({ services }, { intent }) =>
  services.find(({ name }) => name === intent.kind)?.normalizer !== 'none';

function isGone(recording: Recording, one: EntryRecord): boolean {
  const { recordId } = one.intent;
  return deedsOn(recording, one).some(({ is, id }) => is === 'deleted' && id === recordId);
}

/** What others than this entry have done to the record that it updates. */
function others(recording: Recording, one: EntryRecord): readonly Deed[] {
  const { recordId } = one.intent;
  const mine = new Set(sendsOf(recording, one).map(({ number }) => number));
  return deedsOn(recording, one).filter(
    ({ is, id, doer }) =>
      is === 'edited' && id === recordId && !(typeof doer === 'object' && mine.has(doer.send)),
  );
}
