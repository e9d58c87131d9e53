import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import { compactJson, type JsonObject } from '../../src/lib/json/json.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { World } from '../../sandbox/world.ts';
import type { Scene, Wish } from './outbound-scene.ts';
import { KINDS, type Ledger } from './three-processes-load.ts';

/** Every push was done by the service once: not a write of it came twice, anyone who died over it. */
export function expectOnce({ inserted, updated }: Ledger, wishes: readonly Wish[]): void {
  const made = countOf(inserted().map(({ code }) => code));
  const written = countOf(updated().flatMap(({ fields }) => Object.values(fields)));
  const wrong = wishes
    .map(({ operation, data, key }) => ({
      key,
      times: operation === 'create' ? made.get(data['code']) : written.get(Object.values(data)[0]),
    }))
    .filter(({ times }) => times !== 1);
  expect(wrong).toEqual([]);
}

/** The mirror has every record of the service as it is, and no other. */
export async function expectMirrored({ session, service: { world } }: Scene): Promise<void> {
  for (const kind of KINDS) {
    const rows = await session.query(sql`
      select id, _raw from ${sql.identifier(kind)} where _deleted_at is null`);
    const mirrored = Object.fromEntries(rows.map((row) => [String(row['id']), plain(row['_raw'])]));
    expect(mirrored).toEqual(
      Object.fromEntries(world.ids(kind).map((id) => [String(id), truth(world, kind, id)])),
    );
  }
}

interface Event {
  readonly kind: string;
  readonly id: string;
  readonly change: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The events of each record form a chain, from what was known to the record as it is; each that is new is created once. */
export async function expectReported(
  { session, service: { world } }: Scene,
  { known, ledger }: { readonly known: ReadonlyMap<string, number>; readonly ledger: Ledger },
): Promise<void> {
  const events = await eventsOf(session);
  const ends = new Map<string, unknown>();
  for (const { kind, id, change, before, after } of events) {
    const record = `${kind} ${id}`;
    if (ends.has(record)) expect({ record, before }).toEqual({ record, before: ends.get(record) });
    expect(change === 'created').toBe(before === null);
    ends.set(record, after);
  }
  for (const { kind, id } of [...ledger.updated(), ...events])
    expect(ends.get(`${kind} ${id}`)).toEqual(truth(world, kind, Number(id)));
  for (const kind of KINDS) {
    const made = events.filter((event) => event.kind === kind && event.change === 'created');
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
    expect(made).toHaveLength(world.count(kind) - (known.get(kind) ?? 0));
  }
}

async function eventsOf(session: Session): Promise<Event[]> {
  const rows = await session.query(
    sql`select kind, record_id, change, before, after from changes order by seq`,
  );
  return rows.map((row) => ({
    kind: String(row['kind']),
    id: String(row['record_id']),
    change: String(row['change']),
    before: plain(row['before']),
    after: plain(row['after']),
  }));
}

/** Anyone who followed the feed, at whichever process, was given each event once and in order. */
export async function expectFedWhole(session: Session, read: readonly number[]): Promise<void> {
  const rows = await session.query(sql`select seq from changes order by seq`);
  expect(read).toEqual(rows.map(({ seq }) => Number(seq)));
}

/** Nothing of the dead is left: every run has ended, and nobody holds a list. */
export async function leftOver(session: Session): Promise<unknown[]> {
  return [
    ...(await session.query(sql`select id, state, owner from runs where state in ('requested', 'running')`)),
    ...(await session.query(sql`select kind, owner from kind_state where owner is not null`)),
    ...(await session.query(sql`select id, state from outbox where owner is not null`)),
    ...(await session.query(sql`select outbox_id from outbox_attempts where closed_at is null`)),
  ];
}

/**
 * Lets the database itself record each slot that a process marks as dealt with. A log line would not do: the process may be
 * killed between its commit and the line.
 */
export async function recordMarks(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`create table slot_marks (schedule text not null, slot text not null)`);
    await tx.query(sql`
      create function record_mark() returns trigger language plpgsql as $$ begin
        insert into slot_marks values (substr(new.key, length('schedules.') + 1), new.value);
        return null;
      end $$`);
    await tx.query(sql`
      create trigger record_mark after insert or update on mirror_meta for each row
      when (new.key like 'schedules.%') execute function record_mark()`);
  });
}

/**
 * Every slot of a schedule was dealt with by one process: by a run that was done, or by none where one was to read the kind
 * anyway. A slot that came due after these may have its run requested and not worked: the processes were stopped meanwhile.
 *
 * @param due Of each schedule, the instants at which it came due before the processes were at rest.
 */
export async function expectSlotsOnce(
  session: Session,
  due: readonly Date[],
): Promise<Readonly<Record<string, number>>> {
  const marks = await session.query(sql`select schedule, slot from slot_marks`);
  const marked = marks.map(
    ({ schedule, slot }) => `${String(schedule)}@${new Date(String(slot)).toISOString()}`,
  );
  expect(marked).toEqual([...new Set(marked)]);
  expect(marked).toEqual(
    expect.arrayContaining(KINDS.flatMap((kind) => due.map((at) => `${kind}@${at.toISOString()}`))),
  );
  const runs = await session.query(sql`select slot, state from runs where slot is not null`);
  const [last = ''] = due.map((at) => at.toISOString()).toReversed();
  const cameLater = ({ slot, state }: Row): boolean =>
    state === 'requested' && (String(slot).split('@')[1] ?? '') > last;
  // A list that changed all the time while it was read may leave its run incomplete.
  const open = runs.filter(({ state }) => state !== 'done' && state !== 'incomplete');
  expect(open.filter((run) => !cameLater(run))).toEqual([]);
  const slotsRun = runs.filter(({ slot }) => marked.includes(String(slot))).length;
  return { slotsRun, slotsServed: marked.length - slotsRun };
}

/** How much of the work was not the ordinary case: sends that were cut off, and runs that were begun again. */
export async function troubled(session: Session): Promise<Readonly<Record<string, number>>> {
  const [row] = await session.query(sql`
    select (select count(*) from outbox_attempts where grade = 'ambiguous') as sends,
      (select count(*) from runs where epoch > 2) as again, (select count(*) from runs) as runs`);
  return {
    sendsCutOff: Number(row?.['sends']),
    runsAgain: Number(row?.['again']),
    runs: Number(row?.['runs']),
  };
}

const truth = (world: World, kind: string, id: number): unknown => plain(textOf(world.get(kind, id)));

const textOf = (record: JsonObject | undefined): string =>
  record === undefined ? 'null' : compactJson(record);

/** Numbers are compared as floats: that none is rounded is held elsewhere. */
const plain = (text: unknown): unknown => (typeof text === 'string' ? (JSON.parse(text) as unknown) : null);

function countOf(values: readonly unknown[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
