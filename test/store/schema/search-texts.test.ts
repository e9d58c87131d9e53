import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../../src/catalog/kind.ts';
import { parseObject } from '../../../src/lib/json/json.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import { readMeta } from '../../../src/store/kinds/meta.ts';
import { findRecords } from '../../../src/store/records/find-records.ts';
import { writeRows } from '../../../src/store/records/stored-rows.ts';
import { createReportIndexes } from '../../../src/store/schema/change-kind-tables.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, kindNamed, thrownBy } from '../temp-mirror.ts';

const clients = kindNamed('clients');

interface Sent {
  readonly id: number;
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

/** Takes the texts away, as a release that filled them after the first load left them. */
async function withoutTexts(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 1, 'complete', 1, 1, ${NOON_TEXT})`);
    await tx.query(sql`update clients set _search = null`);
    await tx.query(sql`update clients_contacts set _search = null`);
    for (const statement of MARK_SEARCHES) await tx.query(sql.raw(statement));
  });
}

const MARK_SEARCHES = readFileSync(
  new URL('../../../migrations/sqlite/0011_search_marks.sql', import.meta.url),
  'utf8',
).split('--> statement-breakpoint');

const textsOf = (session: Session, table: string): Promise<string[]> =>
  readTexts(session, sql`select coalesce(_search, 'null') from ${sql.identifier(table)} order by 1`);

const found = async (session: Session, text: string): Promise<string[]> =>
  (await findRecords(session, clients, { text, limit: 10 })).map(({ id }) => id);

const THOUSANDS = Array.from({ length: 1_200 }, (_, at) => at + 1);

describe.each(DATABASES)('the search texts in %s', (_name, open) => {
  test('are written with their rows, so that a record is found at once', async () => {
    const session = await open();
    expect(await found(session, 'zoe')).toEqual([]);
    await land(session, 2, 1);
    expect(await textsOf(session, 'clients')).toEqual(['c1|zoe1', 'c2|zoe2']);
    expect(await textsOf(session, 'clients_contacts')).toEqual(['lea', 'lea', 'noel1', 'noel2']);
    expect(await found(session, 'noel 2')).toEqual(['2']);
  });

  test('of a mirror that had none are filled after a run; until then a search says so', async () => {
    const session = await open();
    await land(session, ...THOUSANDS);
    await withoutTexts(session);
    await land(session, 1_201);
    expect(await thrownBy(() => found(session, 'zoe'))).toMatchObject({
      code: 'search.preparing',
      message: 'The search in clients is being prepared.',
    });

    const stop = new AbortController();
    const stopping: Session = {
      ...session,
      atomically: async (work) => {
        const result = await session.atomically(work);
        if ((await readMeta(session, 'filled.clients._search')) === '1000') stop.abort();
        return result;
      },
    };
    await createReportIndexes(stopping, [clients], stop.signal);
    expect(await readMeta(session, 'filled.clients._search')).toBe('1000');
    expect((await textsOf(session, 'clients')).filter((text) => text === 'null')).toHaveLength(200);

    await createReportIndexes(session, [clients]);
    expect(await readMeta(session, 'filled.clients._search')).toBeNull();
    expect((await textsOf(session, 'clients_contacts')).filter((text) => text === 'null')).toEqual([]);
    expect(await found(session, 'zoe 1200')).toEqual(['1200']);
  });

  test('a parent with more elements than one transaction fills gets them all', async () => {
    const session = await open();
    const contacts = Array.from({ length: 2_500 }, (_, n) => ({ nom: `É${n}` }));
    await landOf(session, clients, [{ id: 1, contacts }]);
    await land(session, 2);
    await withoutTexts(session);
    await createReportIndexes(session, [clients]);
    const texts = await textsOf(session, 'clients_contacts');
    expect([new Set(texts).size, texts.includes('null')]).toEqual([2_502, false]);
  });
});
