import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../../src/catalog/kind.ts';
import { parseObject } from '../../../src/lib/json/json.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import { findRecords } from '../../../src/store/records/find-records.ts';
import { writeRows } from '../../../src/store/records/stored-rows.ts';
import { hasUndecoded, redecode } from '../../../src/store/schema/redecode.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, kindNamed } from '../temp-mirror.ts';

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

  test('of a mirror that had none are filled like other columns, and after an interruption once more', async () => {
    const session = await open();
    await land(session, ...THOUSANDS);
    expect(await hasUndecoded(session)).toBe(false);
    await withoutTexts(session);
    expect(await hasUndecoded(session)).toBe(true);

    let left = 1;
    const stopping: Session = {
      ...session,
      atomically: (work) => (left-- > 0 ? session.atomically(work) : Promise.reject(new Error('killed'))),
    };
    await expect(redecode(stopping, clients, { now: NOON })).rejects.toThrow('killed');
    expect((await textsOf(session, 'clients')).includes('null')).toBe(true);
    expect(await hasUndecoded(session)).toBe(true);

    await redecode(session, clients, { now: NOON });
    expect(await hasUndecoded(session)).toBe(false);
    expect((await textsOf(session, 'clients')).filter((text) => text === 'null')).toEqual([]);
    expect((await textsOf(session, 'clients_contacts')).filter((text) => text === 'null')).toEqual([]);
    expect(await found(session, 'zoe 1200')).toEqual(['1200']);
  });

  test('a parent with more elements than one transaction fills gets them all', async () => {
    const session = await open();
    const contacts = Array.from({ length: 2_500 }, (_, n) => ({ nom: `É${n}` }));
    await landOf(session, clients, [{ id: 1, contacts }]);
    await land(session, 2);
    await withoutTexts(session);
    await redecode(session, clients, { now: NOON });
    const texts = await textsOf(session, 'clients_contacts');
    expect([new Set(texts).size, texts.includes('null')]).toEqual([2_502, false]);
  });
});
