import { holds as isHeld } from '../../../src/diff/written.ts';
import { parseJson } from '../../../src/lib/json/json.ts';
import type { Json } from '../../../src/lib/json/json.ts';
import { objectOf } from '../people.ts';
import type { EntryRecord, Recording } from '../recording.ts';
import type { Service } from '../stage.ts';
import type { Deed } from '../writable-world.ts';
import { storedFields } from '../written-value.ts';
import { finding } from './finding.ts';
import type { Finding } from './finding.ts';

type Found = readonly Finding[];

const updates = ({ entries }: Recording): readonly EntryRecord[] =>
  entries.filter(({ intent }) => intent.operation === 'update');

function serviceOf({ services }: Recording, { intent }: EntryRecord): Service {
  const service = services.find(({ name }) => name === intent.kind);
  if (service === undefined) throw new TypeError(`Nothing is served of ${intent.kind}.`);
  return service;
}

/** Updates said to be done whose fields the record never had all, or lost to no later edit of somebody else. */
export function notHeld(recording: Recording): Found {
  return updates(recording)
    .filter(({ entry }) => entry.state === 'done')
    .flatMap((one) => {
      const { world, normalizer } = serviceOf(recording, one);
      const wanted = storedFields(world.kind, one.intent.body, normalizer);
      const id = one.intent.recordId ?? '';
      const content = world.ledger.histories.get(id)?.states.at(-1)?.content;
      const missed = [...wanted].filter(([name, { value }]) => content?.get(name)?.value !== value);
      return missed
        .filter(([name]) => !isTakenBySomebody(recording, one, name))
        .map(([name, { value }]) =>
          finding(
            'lost',
            one.entry.id,
            `${name} of ${id} is ${content?.get(name)?.value ?? 'unknown'}, not ${value}`,
          ),
        );
    });
}

/** Whether somebody else has written the field since the update was asked for. */
function isTakenBySomebody(recording: Recording, one: EntryRecord, field: string): boolean {
  const { world } = serviceOf(recording, one);
  return world.deeds.some(
    ({ is, id, atMs, doer, after }) =>
      is === 'edited' &&
      id === one.intent.recordId &&
      atMs >= one.intent.atMs &&
      after.has(field) &&
      !isBy(recording, one, doer),
  );
}

function isBy({ sends }: Recording, { entry }: EntryRecord, doer: Deed['doer']): boolean {
  return typeof doer === 'object' && sends[doer.send]?.entry === entry.id;
}

/**
 * Values of others that an update of ours replaced, though it had read them and its author had not.
 *
 * What is written between the reading and the writing cannot be seen; nor can what a write replaces that arrives late.
 */
export function overwritten(recording: Recording): Found {
  return updates(recording).flatMap((one) => {
    const { world } = serviceOf(recording, one);
    const base = objectOf(one.entry.base);
    if (base === null) return []; // Its author has not said what they saw: whatever is there is to be replaced.
    return world.deeds
      .filter(
        ({ is, doer, id }) => is === 'edited' && id === one.intent.recordId && isBy(recording, one, doer),
      )
      .flatMap((deed) => foreignValues(recording, { one, deed, base }))
      .map((field) => finding('overwritten', one.entry.id, `${field} of ${one.intent.recordId ?? ''}`));
  });
}

interface Overwriting {
  readonly one: EntryRecord;
  readonly deed: Deed;
  readonly base: Readonly<Record<string, Json>>;
}

function foreignValues(recording: Recording, { one, deed, base }: Overwriting): string[] {
  const send = typeof deed.doer === 'object' ? recording.sends[deed.doer.send] : undefined;
  const { world } = serviceOf(recording, one);
  const sinceMs = send?.readSince ?? 0;
  return [...deed.after].flatMap(([name, cell]) => {
    const was = deed.before.get(name);
    if (was === undefined || was.value === cell.value) return [];
    const lastEdit = world.deeds.findLast(
      (other) => other.id === deed.id && other.atMs <= deed.atMs && other !== deed && other.after.has(name),
    );
    if (lastEdit === undefined || lastEdit.doer === 'before' || lastEdit.atMs >= sinceMs) return [];
    if (typeof lastEdit.doer === 'object') return []; // Our own updates of a record build on each other.
    const field = world.kind.fields.find((known) => known.name === name);
    const [seen, there] = [base[name], parseJson(was.token)];
    return seen !== undefined && isHeld(field, { sent: seen, remote: there }) ? [] : [name];
  });
}
