import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { verifyKind, type KindComparison } from '../../src/report/verify/verify-kind.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { expandIds } from '../../src/cli/parts/input.ts';
import { asMirrored } from '../../src/store/kinds/field-store.ts';
import { OWN_COLUMNS } from '../../src/store/tables/kind-table.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import {
  ALL,
  DATABASES,
  DOCUMENTED_MIRRORS,
  backfillFrom,
  clockAt,
  eventsOf,
  pullOne,
} from '../pull/steps.ts';
import { openSandboxSource, pullFrom, rowsOf, sandbox } from '../pull/support.ts';

/** `BMS_TEST_DEEP=1` touches 200 rows of each kind. */
const isDeep = process.env['BMS_TEST_DEEP'] === '1';
const [SIZE, TOUCHED] = isDeep ? [500, 200] : [60, 24];

type Deed = 'delete' | 'mark' | 'insert' | 'columns';
const DEEDS: readonly Deed[] = ['delete', 'mark', 'insert', 'columns'];

/** Touches rows of a kind at random, each in one way. */
async function touch(
  session: Session,
  declared: ListedKind,
  { count: most, random }: { readonly count: number; readonly random: Random },
): Promise<void> {
  const kind = await asMirrored(session, declared);
  const fields = kind.fields.map(({ name }) => name).filter((name) => name !== 'id');
  const columns = ['id', ...fields, ...OWN_COLUMNS];
  const rows = await rowsOf(session, kind.name);
  const untouched = [...rows];
  const put = (row: Row): Promise<void> =>
    session.atomically((tx) =>
      tx.putRows({ table: kind.name, columns, rows: [columns.map((name) => row[name] ?? null)] }),
    );
  for (let count = 0; count < most && untouched.length > 1; count++) {
    const [row = {}] = untouched.splice(random.integer(0, untouched.length - 1), 1);
    const deed = random.pick(DEEDS);
    if (deed === 'insert') await put({ ...row, id: String(8_000_000_000 + count) });
    else if (deed === 'mark') await put({ ...row, _deleted_at: '2026-02-01 00:00:00.000' });
    else if (deed === 'columns') {
      const name = random.pick(fields);
      const other = random.pick(rows);
      await put({ ...row, [name]: random.chance(0.5) ? null : (other[name] ?? null) });
    } else
      await session.atomically((tx) =>
        tx.query(sql`delete from ${sql.identifier(kind.name)} where id = ${String(row['id'])}`),
      );
  }
}

async function verifyAll(service: Sandbox, session: Session, minute: number): Promise<KindComparison[]> {
  await using source = openSandboxSource(service, clockAt(minute));
  const verdicts: KindComparison[] = [];
  for (const kind of LISTED_KINDS)
    verdicts.push(
      await verifyKind({ session, source }, kind, async () => {
        const { state, detail } = await pullOne(service, session, { kind: kind.name, minute });
        return { reason: state === 'certified' ? null : state, detail };
      }),
    );
  return verdicts;
}

/** Runs the backfill that verify names. */
async function mend(
  service: Sandbox,
  session: Session,
  { verdict: { kind, repair }, minute }: { readonly verdict: KindComparison; readonly minute: number },
): Promise<void> {
  if (repair === null) return;
  const [, ids] = /--ids (\S+)$/.exec(repair) ?? [];
  const extent = ids === undefined ? ALL : { ids: expandIds(ids) };
  const report = await backfillFrom(service, session, { kind, extent, minute });
  expect(report).toMatchObject({ updated: 0, created: 0, restored: 0 });
}

/** Everything of a kind but what says when and by which answer it was written; of its first sight, the minute. */
async function content(session: Session, kind: string): Promise<unknown[]> {
  const rows = (await rowsOf(session, kind)).filter((row) => row['_deleted_at'] === null);
  return rows.map((row) => ({
    ...row,
    _response: null,
    _listed: null,
    _changed_at: null,
    _first_seen_at: String(row['_first_seen_at']).slice(0, 'YYYY-MM-DD HH:MM'.length),
  }));
}

describe.each(DATABASES)('a new %s mirror', (name) => {
  test(
    'rows of every kind that were touched at random are as they were after one pull and the backfills that verify names',
    { timeout: isDeep ? 600_000 : 120_000 },
    async () => {
      const service = await sandbox({ size: SIZE });
      const session = await DOCUMENTED_MIRRORS[name]();
      const pullAll = (minute: number): ReturnType<typeof pullFrom> =>
        pullFrom(service, session, { parts: { clock: clockAt(minute) } });
      const earlier = await eventsOf(session);
      await pullAll(10);
      const before = new Map<string, unknown[]>();
      for (const { name } of LISTED_KINDS) before.set(name, await content(session, name));
      for (const kind of LISTED_KINDS)
        await touch(session, kind, { count: TOUCHED, random: randomFrom('touched', kind.name) });

      const { kinds } = await pullAll(20);
      expect(kinds.map(({ kind, state }) => [kind, state])).toEqual(
        LISTED_KINDS.map(({ name }) => [name, 'certified']),
      );
      for (const verdict of await verifyAll(service, session, 30)) {
        expect(verdict).toMatchObject({ missing: 0, surplus: 0 });
        await mend(service, session, { verdict, minute: 40 });
      }

      for (const verdict of await verifyAll(service, session, 50))
        expect(verdict).toMatchObject({ moved: 0, differs: 0, repair: null, reason: null });
      expect(await eventsOf(session)).toEqual(earlier);
      for (const { name } of LISTED_KINDS)
        expect(await content(session, name), name).toMatchObject(before.get(name) ?? []); // Fields may be discovered.
      expect(await kindsWithRepairs(session)).toBe(LISTED_KINDS.length);
    },
  );
});

async function kindsWithRepairs(session: Session): Promise<number> {
  const [issues] = await session.query(
    sql`select count(distinct kind) as kinds from issues where code = 'mirror_touched'`,
  );
  return Number(issues?.['kinds']);
}
