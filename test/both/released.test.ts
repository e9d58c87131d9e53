import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LISTED_KINDS, KINDS } from '../../src/catalog/kinds/catalog.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { readMirroredKind } from '../../src/store/kinds/field-store.ts';
import { writeMeta } from '../../src/store/kinds/meta.ts';
import { migrate } from '../../src/views/migrate.ts';
import { redecode } from '../../src/store/schema/redecode.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import { clockAt } from '../pull/steps.ts';
import { pullFrom } from '../pull/support.ts';
import { thrownBy } from '../store/temp-mirror.ts';
import { document, run } from '../support/command-line.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { send, serve } from '../support/serve.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { OTHERS, REFUSED, refusalOf } from './other-programs.ts';

/** Each release leaves a mirror of both databases there. */
const RELEASED = join(import.meta.dirname, '../released');
const left = (release: string, file: string): Buffer =>
  gunzipSync(readFileSync(join(RELEASED, release, file)));

/** Opens a copy of the mirror that a release has left. */
const OPENERS = {
  SQLite: async (release: string): Promise<Session & { readonly url: string }> => {
    const path = join(tempFolder(), 'mirror.db');
    writeFileSync(path, left(release, 'mirror.db.gz'));
    return Promise.resolve({ ...openSqliteSession(path), url: `file:${path}` });
  },
  PostgreSQL: async (release: string): Promise<Session & { readonly url: string }> => {
    const url = await freshDatabaseUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(left(release, 'mirror.sql.gz').toString());
    await client.end();
    return { ...(await openPostgresSession(url)), url };
  },
};

const cases = readdirSync(RELEASED).flatMap((release) =>
  (['SQLite', 'PostgreSQL'] as const).map((database) => ({ release, database })),
);

const OWNER = 'elsewhere:1:other:abc';
const AT_WORK: readonly (readonly [string, string])[] = [
  [
    'a serve',
    `insert into workers (owner, roles, started_at, seen_at) values ('${OWNER}', 'outbox', '$now', '$now')`,
  ],
  [
    'a pull by hand',
    `update kind_state set owner = '${OWNER}', lease_until = '$soon' where kind = 'clients'`,
  ],
  [
    'a run',
    `insert into runs (command, kinds, state, owner, requested_at, lease_until)
     values ('pull', '["clients"]', 'running', '${OWNER}', '$now', '$soon')`,
  ],
];
const SETTINGS = { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: 'released' };

describe.each(cases)('the mirror that $release left in $database', ({ release, database }) => {
  async function opened(): Promise<Session & { readonly url: string }> {
    const session = await OPENERS[database](release);
    onTestFinished(() => session.close());
    return session;
  }

  test('keeps its rows, events and entries, refuses other programs, and a pull of the same lists invents nothing', async () => {
    const session = await opened();
    const before = await contentOf(session);
    expect(before.events.length).toBeGreaterThan(2);
    /** When each kind changed last, as the mirror shows it, and by its latest event. */
    const changed = (): Promise<Row[]> =>
      session.query(sql`
        select kind, last_change_at as shown, (select max(observed_at) from changes where kind = s.kind) as latest
        from kind_state as s`);
    expect((await changed()).some(({ shown, latest }) => shown !== null && latest === null)).toBe(true);

    await migrate(session, KINDS);
    expect(await contentOf(session)).toEqual(before);
    const after = await changed();
    expect(after.length).toBeGreaterThan(2);
    expect(after.map(({ shown }) => shown)).toEqual(after.map(({ latest }) => latest));
    const other = await OTHERS[database](session.url);
    // Without a row in the journal of sends, an older release that was asleep sends nothing.
    for (const table of ['clients', 'clients_contacts', 'bookings_items', 'outbox_attempts'])
      expect(await refusalOf(other.run(`delete from ${table} where 1 = 0`)), table).toMatchObject(
        REFUSED[database],
      );

    for (const kind of KINDS)
      await redecode(session, await readMirroredKind(session, kind), { now: clockAt(0).now() });
    expect((await linked(session)).every((rows) => Number(rows) > 0)).toBe(true);
    const url = await serviceLike(session);
    const { kinds } = await pullFrom({ url, token: 'released' }, session, {
      parts: { clock: clockAt(60 * 24 * 365) },
      request: { kinds: LISTED_KINDS, acceptNewSource: true },
    });

    expect(kinds.map(({ kind, state, rows }) => [kind, state, rows])).toEqual(
      LISTED_KINDS.map(({ name }) => [name, 'certified', expect.any(Number) as number]),
    );
    expect(await contentOf(session)).toEqual(before);
  });

  test('is not migrated beside a process of that release', async () => {
    const session = await opened();
    const instant = (ms: number): string => formatInstant(new Date(Date.now() + ms));
    const env = { DATABASE_URL: session.url };
    const meta = () => session.query(sql`select key, value from mirror_meta order by key`);
    const before = await meta();
    for (const [what, statement] of AT_WORK) {
      const text = statement.replaceAll('$now', instant(0)).replaceAll('$soon', instant(30_000));
      await session.atomically((tx) => tx.execute(text));
      for (const command of [['migrate'], ['pull', 'clients']])
        expect(document(await run([...command, '--json'], { ...SETTINGS, ...env })), what).toMatchObject({
          error: {
            code: 'mirror.older_at_work',
            message: expect.stringContaining('process 1 on elsewhere is running an older release') as string,
            hint: expect.stringContaining('Stop it') as string,
          },
        });
      expect(await meta()).toEqual(before);
      await session.atomically(async (tx) => {
        for (const table of ['workers', 'runs', 'kind_state'])
          await tx.execute(`delete from ${table} where owner = '${OWNER}'`);
      });
    }
    expect(await run(['migrate'], env)).toMatchObject({ code: 0 });
  });

  test('is refused in words once a newer release has written it', async () => {
    const session = await opened();
    await session.atomically(async (tx) => {
      await writeMeta(tx, 'version', '99');
      await writeMeta(tx, 'release', '99.0.0');
    });
    expect(await thrownBy(() => migrate(session, KINDS))).toMatchObject({
      code: 'mirror.newer',
      message: expect.stringContaining('last written by bms-sync 99.0.0') as string,
      hint: expect.stringContaining('To go back') as string,
    });
  });
});

/** What a mirror holds, by plain SQL: no column that a later release may add. */
async function contentOf(session: Session) {
  const rows = new Map<string, Row[]>();
  for (const { name } of LISTED_KINDS) rows.set(name, await rowsOf(session, name));
  return {
    rows,
    events: await session.query(
      sql`select seq, kind, record_id, change, before, after from changes order by seq`,
    ),
    entries: await session.query(
      sql`select id, idempotency_key, kind, state, payload from outbox order by id`,
    ),
  };
}

/** How many rows the joins find that 1.0 did not have. */
async function linked(session: Session): Promise<unknown[]> {
  const joins = [
    sql`bi_products_variantes l join bi_products r on r.id = l.origin_product_id`,
    sql`bi_purchase_products l join bi_projects r on r.id = l.produit_projet_id`,
    sql`bi_departments_categories l join bi_categories r on r.id = l.category_id`,
  ];
  const counts: unknown[] = [];
  for (const join of joins)
    for (const { rows } of await session.query(sql`select count(*) as rows from ${join}`)) counts.push(rows);
  return counts;
}

const rowsOf = (session: Session, kind: string): Promise<Row[]> =>
  session.query(sql`
    select cast(id as text) as id, _raw, _deleted_at is null as live from ${sql.identifier(kind)}
    order by ${sql.identifier(kind)}.id`);

/** A service whose lists are the live rows of a mirror, each on one page. */
async function serviceLike(session: Session): Promise<string> {
  const lists = new Map<string, string>();
  for (const { name, list } of LISTED_KINDS) {
    const live = (await rowsOf(session, name)).filter(({ live }) => Number(live) === 1);
    const data = live.map((row) => String(row['_raw'])).join(',');
    const meta = `{"current_page":1,"last_page":1,"per_page":1000,"total":${live.length}}`;
    lists.set(list.path, `{"success":true,"data":[${data}],"meta":${meta}}`);
  }
  return serve((request, response) => {
    send(response, lists.get(new URL(request.url ?? '', 'http://x').pathname) ?? '{}');
  });
}
