import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

export const KIND_NAMES: readonly string[] = LISTED_KINDS.map(({ name }) => name);

export type Row = Readonly<Record<string, string | bigint | number | Buffer | null>>;

/** Asks a mirror in SQL, read-only, by a connection of its own; integers come as bigint. */
export function ask(path: string, question: string): Row[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare(question).safeIntegers().all() as Row[];
  } finally {
    database.close();
  }
}

/** Everything that the kind tables hold, our own columns and the place of each row in the file included. */
export function dump(path: string): Readonly<Record<string, readonly Row[]>> {
  return Object.fromEntries(
    KIND_NAMES.map((kind) => [kind, ask(path, `select rowid, * from ${kind} order by id`)]),
  );
}

/** The mirror holds exactly the records of the service: every id, every record as it was sent. */
export function expectEqual(path: string, { world }: Pick<Sandbox, 'world'>): void {
  for (const kind of KIND_NAMES) {
    const rows = ask(path, `select id, _raw from ${kind} where _deleted_at is null`);
    const held = new Map(rows.map((row) => [Number(row['id']), row['_raw']]));
    const sent = new Map(world.ids(kind).map((id) => [id, compactJson(world.get(kind, id) ?? null)]));
    expect([kind, held.size]).toEqual([kind, sent.size]);
    expect([...sent].filter(([id, raw]) => held.get(id) !== raw)).toEqual([]);
  }
}

/** The file is a healthy database in which no page has landed by halves, nor a row without its event. */
export function expectSound(path: string): void {
  expect(ask(path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  for (const kind of KIND_NAMES) {
    const halves = ask(
      path,
      `select s.answered, j.value from sightings s, json_each(s.ids) j
       where s.kind = '${kind}' and not exists (select 1 from ${kind} k where k.id = j.value)`,
    );
    expect(halves, `rows of ${kind} that a page showed and the mirror lacks`).toEqual([]);
  }
  expectWholeHistory(path);
}

/** Each event goes on where the one before it ended, and the last one left what the row is now. */
function expectWholeHistory(path: string): void {
  const broken = ask(
    path,
    `select c.seq from changes c join changes n on n.seq = (
       select min(seq) from changes x where x.kind = c.kind and x.record_id = c.record_id and x.seq > c.seq)
     where c.after is not n.before`,
  );
  expect(broken, 'events that the next one of the record does not follow from').toEqual([]);
  for (const kind of KIND_NAMES) {
    const stale = ask(
      path,
      `select k.id from ${kind} k join changes c on c.seq = (
         select max(seq) from changes x where x.kind = '${kind}' and x.record_id = cast(k.id as text))
       where c.after is not case when k._deleted_at is null then k._raw end`,
    );
    expect(stale, `rows of ${kind} that are not as their last event left them`).toEqual([]);
  }
}

/** No kind has a row. */
export function expectEmpty(path: string): void {
  for (const kind of KIND_NAMES) expect(ask(path, `select id from ${kind}`), kind).toEqual([]);
}

/** The bytes of the database with all that lies beside it; only where no connection of this process is open. */
export function bytesOf(path: string): Buffer {
  const folder = dirname(path);
  const files = readdirSync(folder).filter((name) => name.startsWith(basename(path)));
  return Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
}
