import { describe, expect, test } from 'vitest';
import {
  listLiveWorkers,
  readLiveOwners,
  removeWorker,
  saveHeartbeat,
} from '../../../src/store/runs/worker-store.ts';
import { deadOwner, passLeases } from '../../support/lapse.ts';
import { DATABASES } from '../databases.ts';
import type { Session } from '../../../src/db/session/session.ts';

const DAY_S = 86_400;

const beat = (session: Session, owner: string): Promise<void> => saveHeartbeat(session, { owner, roles: [] });
const living = async (session: Session): Promise<string[]> => [...(await readLiveOwners(session))].sort();

describe.each(DATABASES)('workers in %s', (_, open) => {
  test('one that is not seen for 45 s is dead', async () => {
    const session = await open();
    await beat(session, 'a');
    await passLeases(session, 30);
    await beat(session, 'b');
    expect(await living(session)).toEqual(['a', 'b']);
    await passLeases(session, 16);
    expect(await living(session)).toEqual(['b']);
    await passLeases(session, 30);
    expect(await living(session)).toEqual([]);
    await beat(session, 'b');
    expect(await living(session)).toEqual(['b']);
  });

  test('one that is gone for certain is dead at once', async () => {
    const session = await open();
    await beat(session, deadOwner());
    expect(await living(session)).toEqual([]);
  });

  test('one that has left is not among the living', async () => {
    const session = await open();
    await beat(session, 'a');
    await removeWorker(session, 'a');
    expect(await living(session)).toEqual([]);
  });

  test('the dead are forgotten after a day, and one that wakes then is entered anew', async () => {
    const session = await open();
    await beat(session, 'a');
    await passLeases(session, DAY_S + 1);
    await beat(session, 'b');
    await passLeases(session, -DAY_S);
    await passLeases(session, DAY_S);
    expect((await listLiveWorkers(session)).map(({ owner }) => owner)).toEqual(['b']);
    await beat(session, 'a');
    expect(await living(session)).toEqual(['a', 'b']);
  });
});
