import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import { readMirroredKind } from '../../src/store/kinds/field-store.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { listViews } from '../../src/views/views.ts';
import { openSource } from '../../src/source/source.ts';
import { documentedMirror, logger, pullFrom, sandbox } from '../pull/support.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';
import { poison } from '../support/poison.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { postgresMirror } from './support.ts';

/** A table or view as both databases should have it: sorted, without what depends on the order of answers. */
async function dump(session: Session, relation: string): Promise<string[]> {
  const rows = await session.query(sql`select * from ${sql.identifier(relation)}`);
  return rows.map((row) => JSON.stringify(comparable(row))).sort();
}

function comparable(row: Row): [string, string | null][] {
  return Object.entries(row)
    .filter(([name]) => !(`${name}_exact` in row)) // REAL in one, numeric in the other: the exact text is compared.
    .map(([name, value]): [string, string | null] => [name, value === null ? null : String(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

test('C18: the same pulls give both databases the same rows, views, issues, fields and drift', async () => {
  const service = await sandbox({ size: 130 });
  const address = { baseUrl: service.url, token: service.token };
  const sqlite = await documentedMirror();
  const postgres = (await postgresMirror('template_all_kinds')).session;
  for (const round of [1, 2]) {
    if (round === 2) for (const { name } of LISTED_KINDS) poison(service, name);
    for (const session of [sqlite, postgres]) {
      const clock = fakeClock();
      // Kind by kind, so that what both number has the same numbers.
      await using source = openSource({ ...SOURCE_SETTINGS, ...address, concurrency: 1 }, { clock, logger });
      await pullFrom(service, session, { parts: { source, clock } });
    }
  }
  const kinds = await Promise.all(KINDS.map((kind) => readMirroredKind(sqlite, kind)));
  const views = listViews(kinds.filter(isListed), 'postgres').map(({ name }) => name);
  expect(NASTY_VALUES.length).toBeGreaterThanOrEqual(400);

  for (const relation of views.filter((name) => name !== 'bi_sync_status')) {
    expect(await dump(postgres, relation), relation).toEqual(await dump(sqlite, relation));
  }
  for (const { name, fields } of kinds) {
    const columns = [
      ...fields.map((field) => field.name),
      '_raw',
      '_first_seen_at',
      '_changed_at',
      '_deleted_at',
    ];
    const query = sql`select ${sql.join(
      columns.map((column) => sql.identifier(column)),
      sql`, `,
    )} from ${sql.identifier(name)} order by ${sql.identifier(name)}.id`;
    expect(await postgres.query(query), name).toEqual(await sqlite.query(query));
  }
  for (const query of [
    sql`select kind, record_id, field, code, detail from issues where closed_at is null order by kind, record_id, field, code, detail`,
    sql`select kind, field, documented, type, fits_hint, wire, column_type, column_scale from fields order by kind, field`,
    sql`select kind, state, rows, open_issues from bi_sync_status order by kind`,
  ]) {
    expect(new Set((await postgres.query(query)).map((row) => JSON.stringify(row)))).toEqual(
      new Set((await sqlite.query(query)).map((row) => JSON.stringify(row))),
    );
  }
});
