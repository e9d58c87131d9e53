import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { OtherSourceError } from '../../src/mirror/errors.ts';
import { bindSource, boundSystem, boundUrl, claimSource } from '../../src/mirror/source-binding.ts';
import type { Session } from '../../src/mirror/session.ts';
import { NOON_TEXT, putRecords, tempMirror, thrownBy } from './temp-mirror.ts';

const [OURS, THEIRS] = ['https://ours.example', 'https://theirs.example/api'];

/** What a run does: it makes its claim, learns the company from a record, and binds with what lands. */
interface Binding {
  readonly acceptNew?: boolean;
  readonly systemId?: string | null;
}

async function bind(
  session: Session,
  baseUrl: string,
  { acceptNew = false, systemId = '42' }: Binding = {},
): Promise<void> {
  const claim = await claimSource(session, { baseUrl, acceptNew });
  claim.systemId ??= systemId;
  if (!claim.isBound) await session.atomically((tx) => bindSource(tx, claim));
}

/** A mirror of our source that has been swept. */
async function boundMirror(): Promise<Session> {
  const session = await tempMirror();
  await bind(session, OURS);
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '1' }]);
    await tx.query(sql`
      insert into sightings (kind, answered, sent, run_id, page, ids, rows, seen_at)
      values ('clients', 2, 1, 1, 1, '[1]', 1, ${NOON_TEXT})`);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch) values ('clients', 2, 'complete', 3, 5)`);
  });
  return session;
}

const factsOf = async (session: Session) => ({
  url: await boundUrl(session),
  system: await boundSystem(session),
  sightings: (await session.query(sql`select 1 from sightings`)).length,
  state: await session.query(sql`select tick, epoch, complete_sweeps from kind_state`),
  rows: (await session.query(sql`select 1 from clients`)).length,
});

describe('whose data the mirror holds', () => {
  test('an address that nothing has landed from binds nothing', async () => {
    const session = await tempMirror();
    await claimSource(session, { baseUrl: THEIRS, acceptNew: false });
    await bind(session, OURS);
    await claimSource(session, { baseUrl: THEIRS, acceptNew: true });
    expect([await boundUrl(session), await boundSystem(session)]).toEqual([OURS, '42']);
  });

  test('nobody’s at first; then that of the first source', async () => {
    const session = await tempMirror();
    expect([await boundUrl(session), await boundSystem(session)]).toEqual([null, null]);
    await bind(session, OURS);
    expect([await boundUrl(session), await boundSystem(session)]).toEqual([OURS, '42']);
  });

  test('the same source again changes nothing', async () => {
    const session = await boundMirror();
    const before = await factsOf(session);
    await bind(session, OURS);
    expect(await factsOf(session)).toEqual(before);
  });

  test('another source is refused by both names, and nothing changes', async () => {
    const session = await boundMirror();
    const before = await factsOf(session);
    const error = await thrownBy(() => bind(session, THEIRS));
    expect(error).toBeInstanceOf(OtherSourceError);
    expect(error).toMatchObject({ code: 'mirror.other_source' });
    expect(String(error)).toContain(OURS);
    expect(String(error)).toContain(THEIRS);
    expect(await factsOf(session)).toEqual(before);
  });

  test('--new-source accepts it: rows and ticks stay, what the old source proved is forgotten', async () => {
    const session = await boundMirror();
    await bind(session, THEIRS, { acceptNew: true, systemId: null });
    expect(await factsOf(session)).toEqual({
      url: THEIRS,
      system: null,
      sightings: 0,
      state: [{ tick: 2, epoch: 5, complete_sweeps: 0 }],
      rows: 1,
    });
    const error = await thrownBy(() => bind(session, OURS));
    expect(error).toBeInstanceOf(OtherSourceError);
  });

  test('--new-source with the same URL accepts another company behind it', async () => {
    const session = await boundMirror();
    await bind(session, OURS, { acceptNew: true, systemId: null });
    expect(await boundSystem(session)).toBeNull();
  });
});
