import { backwards, brokenChains, falseDeletions, phantomEvents } from '../../simulation/checkers/events.ts';
import type { KindRecording } from '../../simulation/checkers/events.ts';
import { inventedRows, lostRows, unequal } from '../../simulation/checkers/rows.ts';
import { outOfOrder } from '../../simulation/checkers/times.ts';
import { wrongUndo } from '../../simulation/checkers/undo.ts';
import type { ChangeRow } from '../../simulation/dump.ts';
import type { EntryRecord, Recording } from '../recording.ts';
import { wasAmbiguous } from './creates.ts';
import { finding } from './finding.ts';
import { isUnprovable } from './parked.ts';
import type { Finding } from './finding.ts';

type Found = readonly Finding[];

/** The checkers of the sweeps' simulation: rows, chains of events, what undoing them gives. */
export function mirrorFindings(recording: Recording): Found {
  const { services, pulls, changes, final } = recording;
  const violations = services.flatMap(({ name, world: { ledger } }) => {
    const dump = final.kinds.get(name);
    if (dump === undefined) throw new TypeError(`Nothing was recorded of ${name}.`);
    const recorded: KindRecording = {
      ...{ ledger, pulls, mayHide: false },
      changes: changes.filter((event) => event.kind === name),
    };
    return [
      ...[...falseDeletions(recorded), ...phantomEvents(recorded), ...brokenChains(recorded)],
      ...[...backwards(recorded), ...wrongUndo(recorded), ...inventedRows(ledger, dump)],
      ...lostRows(ledger, dump, recording.restMs),
      ...(isUnprovable(recording, name) ? [] : unequal(ledger, dump)),
    ];
  });
  const ordered = outOfOrder({ ...recording, ledgers: new Map(), lying: null } as never);
  return [...violations, ...ordered].map(({ checker, kind, detail }) =>
    finding(`mirror: ${checker}`, null, `${kind}: ${detail}`),
  );
}

/** Confirmed writes without the one event that tells of them, or with one too many, or with another's origin. */
export function wrongOrigins(recording: Recording): Found {
  const ours = recording.changes.filter(({ origin }) => origin !== 'service');
  const known = new Map(recording.entries.map((one) => [`outbox:${one.entry.id}`, one]));
  const strays = ours
    .filter((event) => !isOf(known.get(event.origin), event))
    .map(({ seq, origin, id }) => finding('origin', null, `#${seq} of ${id} has the origin ${origin}`));
  return [...strays, ...recording.entries.flatMap((one) => eventFindings(recording, one))];
}

const isOf = (one: EntryRecord | undefined, { kind, id }: ChangeRow): boolean =>
  one !== undefined && one.intent.kind === kind && one.entry.recordId === id;

function eventFindings(recording: Recording, one: EntryRecord): Found {
  const { entry, intent } = one;
  const own = recording.changes.filter(({ origin }) => origin === `outbox:${entry.id}`);
  if (own.length > 1 && !wasAmbiguous(recording, one))
    return [finding('events', entry.id, `${own.length} events tell of it`)];
  if (entry.state !== 'done' || own.length > 0) return [];
  const why = intent.operation === 'create' ? createdWithout(recording, one) : updatedWithout(recording, one);
  return why === null ? [] : [finding('events', entry.id, why)];
}

/** Why a create should have had an event of its own; null where a sweep may have told of it first. */
function createdWithout(recording: Recording, one: EntryRecord): string | null {
  const { entry, attempts, intent } = one;
  const created = recording.changes.filter(({ kind, id }) => kind === intent.kind && id === entry.recordId);
  if (created[0]?.change !== 'created') return 'nothing tells that it was created';
  const isAnswered = entry.verdict === 'sent' || entry.verdict === 'resent';
  const closedAt = attempts.at(-1)?.closedAt ?? '';
  const isSweptFirst = created[0].observedAt <= closedAt;
  const { shape } = recording.services.find(({ name }) => name === intent.kind) ?? {};
  if (!isAnswered || isSweptFirst || shape === 'id only') return null;
  return `its creation has the origin service, at ${created[0].observedAt}, closed ${closedAt}`;
}

/** Why an update should have had an event of its own; null where nothing changed, or its answer was lost. */
function updatedWithout(recording: Recording, one: EntryRecord): string | null {
  const { entry, intent } = one;
  if (entry.verdict !== 'sent' || wasAmbiguous(recording, one)) return null;
  const { world } = recording.services.find(({ name }) => name === intent.kind) ?? {};
  const changed = world?.deeds.some(
    ({ doer, is }) =>
      is === 'edited' && typeof doer === 'object' && recording.sends[doer.send]?.entry === entry.id,
  );
  return changed === true ? 'it changed the record, and no event of its own tells of it' : null;
}
