import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../../src/catalog/kind.ts';
import { parseObject } from '../../../src/lib/json/json.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import { readMeta, writeMeta } from '../../../src/store/kinds/meta.ts';
import { findRecords } from '../../../src/store/records/find-records.ts';
import { writeRows } from '../../../src/store/records/stored-rows.ts';
import { createReportIndexes } from '../../../src/store/schema/change-kind-tables.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, kindNamed, thrownBy } from '../temp-mirror.ts';

const clients = kindNamed('clients');

interface Sent {
  readonly id: number;
  readonly name?: string;
  readonly contacts?: readonly { readonly nom: string }[];
}

/** Lands clients with contacts as a sweep does. */
const land = (session: Session, ...ids: readonly number[]): Promise<void> =>
  landOf(
    session,
    clients,
    ids.map((id) => ({
      id,
      code: `C-${id}`,
      name: `Zoé ${id}`,
      contacts: [{ nom: `Noël ${id}` }, { nom: 'Léa' }],
    })),
  );

async function landOf(session: Session, kind: Kind, sent: readonly Sent[]): Promise<void> {
  const records = sent.map((one) => {
    const raw = JSON.stringify(one);
    const change = { is: 'created' } as const;
    return { id: String(one.id), raw, record: parseObject(raw), response: 1, stored: undefined, change };
  });
  await session.atomically((tx) =>
    writeRows(tx, {
      kind,
      records,
      isListed: true,
      origin: 'service',
      runId: null,
      now: NOON,
      standing: { certifiedAt: null, baselineAt: null },
      ignoredFields: new Set(),
    }),
  );
}

const standing = (session: Session, baselineAt: string | null): Promise<unknown> =>
  session.atomically((tx) =>
    tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 1, 'complete', 1, 1, ${baselineAt}) on conflict (kind) do update set baseline_at = excluded.baseline_at`),
  );

const textsOf = (session: Session, table: string, column = '_search'): Promise<string[]> =>
  readTexts(
    session,
    sql`select coalesce(${sql.identifier(column)}, 'null') from ${sql.identifier(table)} order by 1`,
  );

const found = async (session: Session, text: string): Promise<string[]> =>
  (await findRecords(session, clients, { text, limit: 10 })).map(({ id }) => id);

describe.each(DATABASES)('the search texts in %s', (_name, open) => {
  test('are filled after the baseline, and kept by landing from then on', async () => {
    const session = await open();
    await standing(session, null);
    await land(session, 2, 1);
    await createReportIndexes(session, [clients]);
    expect(await textsOf(session, 'clients')).toEqual(['null', 'null']);

    await standing(session, NOON_TEXT);
    await createReportIndexes(session, [clients]);
    expect(await textsOf(session, 'clients')).toEqual(['c1|zoe1', 'c2|zoe2']);
    expect(await textsOf(session, 'clients_contacts')).toEqual(['lea', 'lea', 'noel1', 'noel2']);

    await land(session, 3);
    expect(await textsOf(session, 'clients')).toEqual(['c1|zoe1', 'c2|zoe2', 'c3|zoe3']);
    expect(await found(session, 'noel 3')).toEqual(['3']);
  });

  test('until then a search says that it is being prepared, also of records that it could find', async () => {
    const session = await open();
    expect(await found(session, 'zoe')).toEqual([]); // Never read.
    await land(session, 1);
    await standing(session, null);
    for (const state of [null, 'filling'] as const) {
      if (state !== null) await session.atomically((tx) => writeMeta(tx, 'search.clients', state));
      await land(session, state === null ? 2 : 3);
      expect(await thrownBy(() => found(session, 'zoe'))).toMatchObject({
        code: 'search.preparing',
        message: 'The search in clients is being prepared.',
      });
    }
    await standing(session, NOON_TEXT);
    await createReportIndexes(session, [clients]);
    expect(await found(session, 'zoe')).toEqual(['1', '2', '3']);
  });

  test('a filling that was killed goes on with the rows that have none', async () => {
    const session = await open();
    await land(session, ...Array.from({ length: 1_200 }, (_, at) => at + 1));
    await standing(session, NOON_TEXT);
    await session.atomically(async (tx) => {
      await writeMeta(tx, 'search.clients', 'filling');
      await tx.query(sql`update clients set _search = 'kept' where id <= 1100`);
    });
    for (const again of [1, 2]) {
      await createReportIndexes(session, [clients]);
      expect([again, await readMeta(session, 'search.clients')]).toEqual([again, 'ready']);
      expect(new Set(await textsOf(session, 'clients')).size).toBe(101);
      expect(await found(session, 'zoe 1200')).toEqual(['1200']);
    }
    expect((await textsOf(session, 'clients_contacts')).filter((text) => text === 'null')).toEqual([]);
  });

  test('a filling that is stopped ends after a transaction, and the next run goes on', async () => {
    const session = await open();
    await land(session, ...Array.from({ length: 1_200 }, (_, at) => at + 1));
    await standing(session, NOON_TEXT);
    const stop = new AbortController();
    const stopping: Session = {
      ...session,
      atomically: async (work) => {
        const result = await session.atomically(work);
        if ((await readMeta(session, 'search.clients')) === 'filling') stop.abort();
        return result;
      },
    };
    await createReportIndexes(stopping, [clients], stop.signal);
    expect(await readMeta(session, 'search.clients')).toBe('filling');
    expect(new Set(await textsOf(session, 'clients'))).toEqual(new Set(['null']));
    await createReportIndexes(session, [clients]);
    expect(await found(session, 'zoe 1200')).toEqual(['1200']);
  });

  test('a parent with more elements than one transaction fills gets them all', async () => {
    const session = await open();
    const contacts = Array.from({ length: 2_500 }, (_, n) => ({ nom: `É${n}` }));
    await landOf(session, clients, [{ id: 1, contacts }]);
    await land(session, 2);
    await standing(session, NOON_TEXT);
    await createReportIndexes(session, [clients]);
    const texts = await textsOf(session, 'clients_contacts');
    expect([new Set(texts).size, texts.includes('null')]).toEqual([2_502, false]);
  });

  test('of a kind without a list, which has no first load, are written at once', async () => {
    const session = await open();
    const unlisted: Kind = { ...clients, list: null };
    await landOf(session, unlisted, [{ id: 1, name: 'Zoé' }]);
    await standing(session, null);
    expect(await findRecords(session, unlisted, { text: 'zoe', limit: 1 })).toMatchObject([{ id: '1' }]);
  });
});
