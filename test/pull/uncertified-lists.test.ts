import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { ONE_DATABASE, MIRRORS, absencesOf, kindState, newRequests, pullOne, shortEvents } from './steps.ts';
import { mirror, rewriting, sandbox } from './support.ts';

const kind = 'clients';

/** A mirror that knew a list exactly, before its total began to be one too many: from then on no end is ever proven. */
async function uncertified(open: () => Promise<Session> = mirror) {
  const honest = await sandbox({ size: 260 });
  const session = await open();
  let tooMany = 0;
  const service = await rewriting(honest, (body) =>
    body.replace(/"total":(\d+)/, (_, total) => `"total":${Number(total) + tooMany}`),
  );
  const pull = (minute: number) =>
    pullOne(service, session, { kind, minute, rules: { repeatBelowPages: 0 } });
  expect(await pull(0)).toMatchObject({ state: 'complete' });
  expect(await pull(1)).toMatchObject({ state: 'certified' });
  tooMany = 1;
  const remove = (): string => {
    const id = honest.world.ids(kind)[3] ?? 0;
    honest.world.remove(kind, id);
    return String(id);
  };
  return { honest, session, pull, remove };
}

const askedFor = (paths: readonly string[], id: string): number =>
  paths.filter((path) => path === `/api/clients/${id}`).length;

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a record that two complete sweeps did not show is asked for, and deleted once it is gone twice, a grace apart', async () => {
    const { honest, session, pull, remove } = await uncertified(MIRRORS[database]);
    const gone = remove();
    const asked = newRequests(honest);

    expect(await pull(20)).toMatchObject({ state: 'complete', deleted: 0 });
    expect(askedFor(asked(), gone)).toBe(0); // The sweep before it has shown the record.
    await pull(40);
    expect(askedFor(asked(), gone)).toBe(1);
    expect(await absencesOf(session)).toEqual([`${gone} suspected`]);
    await pull(50);
    expect(askedFor(asked(), gone)).toBe(0);
    expect(await pull(56)).toMatchObject({ state: 'complete', deleted: 1 });

    expect(await absencesOf(session)).toEqual([`${gone} deleted retrieve`]);
    expect(await shortEvents(session)).toEqual([`${gone} deleted`]);
    expect((await kindState(session, kind))['state']).toBe('complete');
  });
});

describe('does not count as a second complete sweep:', () => {
  test.each([
    [{ status: 503 }, 'invalid'],
    [{ successFalse: true }, 'invalid'],
  ] as const)('one that %j breaks off', async (action, state) => {
    const { honest, session, pull, remove } = await uncertified();
    const gone = remove();
    const breakOff = async (minute: number): Promise<void> => {
      honest.setFaults([{ on: { kind, page: 2 }, do: action }]);
      expect(await pull(minute)).toMatchObject({ state, deleted: 0 });
      honest.setFaults([]);
      expect(await absencesOf(session)).toEqual([]);
    };

    await breakOff(20);
    await pull(40); // The complete sweep before this one has shown the record.
    await breakOff(60);
    await pull(80);
    expect(await absencesOf(session)).toEqual([`${gone} suspected`]);
  });

  test('one after a response of a broken sweep has shown the record', async () => {
    const { honest, session, pull } = await uncertified();
    const id = honest.world.ids(kind)[3] ?? 0;
    const record = honest.world.get(kind, id) ?? {};
    honest.world.remove(kind, id);
    await pull(20);
    honest.world.insert(kind, record);
    honest.setFaults([{ on: { kind, page: 2 }, do: { status: 503 } }]);
    expect(await pull(30)).toMatchObject({ state: 'invalid' });
    honest.setFaults([]);
    honest.world.remove(kind, id);

    await pull(40);
    expect(await absencesOf(session)).toEqual([]);
    await pull(60);
    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
  });

  test('one whose row was written since the first of the two began', async () => {
    const { session, pull, remove } = await uncertified();
    const gone = remove();
    const written = remove();
    await pull(20);
    await session.atomically((tx) =>
      tx.query(sql`
        update clients set _response = (select tick from kind_state where kind = 'clients') where id = ${written}`),
    );
    await pull(40);
    expect(await absencesOf(session)).toEqual([`${gone} suspected`]);
  });
});
