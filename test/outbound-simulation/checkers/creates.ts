import type { EntryRecord, Recording } from '../recording.ts';
import { isAmbiguous } from '../fates.ts';
import { finding } from './finding.ts';
import type { Finding } from './finding.ts';

type Found = readonly Finding[];

/** The records that the sends of an entry made. */
export function madeBy({ sends, services }: Recording, { intent: { entry, kind } }: EntryRecord): string[] {
  const world = services.find(({ name }) => name === kind)?.world;
  return (world?.deeds ?? []).flatMap(({ is, doer, id }) =>
    is === 'created' && typeof doer === 'object' && sends[doer.send]?.entry === entry ? [id] : [],
  );
}

const creates = ({ entries }: Recording): readonly EntryRecord[] =>
  entries.filter(({ intent }) => intent.operation === 'create');

/** Intents that made more than one record. */
export function doubled(recording: Recording): Found {
  return creates(recording).flatMap((one) => {
    const made = madeBy(recording, one);
    return made.length > 1 ? [finding('doubled', one.entry.id, `made ${made.join(', ')}`)] : [];
  });
}

/** Intents said to be done that made no record. */
export function lost(recording: Recording): Found {
  return creates(recording)
    .filter((one) => one.entry.state === 'done' && madeBy(recording, one).length === 0)
    .map(({ entry }) =>
      finding('lost', entry.id, `${entry.verdict ?? ''} with ${entry.recordId ?? 'no record'}`),
    );
}

/** Intents that took a record for theirs which somebody else made. */
export function strangers(recording: Recording): Found {
  return creates(recording)
    .filter((one) => one.entry.recordId !== null && !madeBy(recording, one).includes(one.entry.recordId))
    .map(({ entry }) =>
      finding('stranger', entry.id, `took ${entry.recordId ?? ''}, ${entry.verdict ?? ''}`),
    );
}

/** Writes that left without a line in the journal, or twice under one claim. */
export function unjournalled(recording: Recording): Found {
  return recording.entries.flatMap(({ entry, attempts }) => {
    const sends = recording.sends.filter((send) => send.entry === entry.id);
    const epochs = new Set(sends.map(({ epoch }) => epoch));
    return [
      ...(sends.length > attempts.length
        ? [finding('journal', entry.id, `${sends.length} sends, ${attempts.length} attempts`)]
        : []),
      ...(epochs.size < sends.length ? [finding('one send a claim', entry.id, `${sends.length} sends`)] : []),
      ...(attempts.some(({ closedAt }) => closedAt === null)
        ? [finding('journal', entry.id, 'an attempt is open for ever')]
        : []),
    ];
  });
}

const ENDS = ['done', 'rejected', 'parked', 'abandoned'];

/** Entries that have not come to an end, or do not say why. */
export function unsettled({ entries }: Recording): Found {
  const parked = new Set(
    entries.filter(({ entry }) => entry.state === 'parked').map(({ entry }) => entry.id),
  );
  const waits = ({ entry }: EntryRecord): boolean => {
    const { waitsFor } = JSON.parse(entry.result ?? '{}') as { waitsFor?: number };
    if (entry.state !== 'ready' || entry.verdict !== 'waits' || waitsFor === undefined) return false;
    const before = entries.find((one) => one.entry.id === waitsFor);
    return parked.has(waitsFor) || (before !== undefined && waits(before));
  };
  return entries
    .filter((one) => !(ENDS.includes(one.entry.state) && one.entry.verdict !== null) && !waits(one))
    .map(({ entry }) =>
      finding('unsettled', entry.id, `${entry.state} ${entry.verdict ?? 'without a verdict'}`),
    );
}

/** Whether the outcome of some send of an entry was not known to it. */
export function wasAmbiguous({ sends }: Recording, { entry, attempts }: EntryRecord): boolean {
  const faults = sends.filter((send) => send.entry === entry.id && send.fate !== 'refused');
  return (
    faults.some(({ fate }) => fate !== 'refused' && isAmbiguous(fate)) ||
    attempts.some(({ grade }) => grade === 'ambiguous')
  );
}
