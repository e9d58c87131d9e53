import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import { delegatePull } from '../../src/runs/delegate-pull.ts';
import { registerWorker } from '../../src/mirror/runs/worker-store.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { tempMirror } from '../mirror/temp-mirror.ts';
import { RULES, logger } from '../pull/support.ts';

const owner = { name: 'us:1:a', isDead: () => false };
const kinds = LISTED_KINDS.filter(({ name }) => name === 'clients');
const request = { ...RULES, kinds, baseUrl: 'http://service', acceptNewSource: false };

/** Waits for a run with which the background service, which lives on, does this. */
async function waitFor(session: Session, deed: (runs: number) => Promise<unknown>, signal?: AbortSignal) {
  const clock = fakeClock();
  await registerWorker(session, { owner: 'them:2:b', roles: ['pulls'] }, clock.now());
  const sleep = async (ms: number): Promise<void> => {
    await deed(clock.sleeps.length);
    await clock.sleep(ms);
  };
  return delegatePull(
    { session, logger, owner, clock: { ...clock, sleep }, ...(signal && { signal }) },
    request,
  );
}

test('a run that the service has broken off for good is not said to go on', async () => {
  const session = await tempMirror();
  const handed = await waitFor(session, () =>
    session.atomically((tx) => tx.query(sql`update runs set state = 'interrupted'`)),
  );
  const detail = 'Run 1 of the background service was broken off, and is not begun again.';
  expect(handed).toMatchObject({
    report: { runId: 1, kinds: [{ kind: 'clients', state: 'aborted', detail }] },
  });
});

test('a run that the service has broken off and begun again is waited for', async () => {
  const session = await tempMirror();
  const states = ['interrupted', 'requested', 'running', 'interrupted', 'running', 'done'];
  const handed = await waitFor(session, (at) =>
    session.atomically((tx) => tx.query(sql`update runs set state = ${states[at]}`)),
  );
  expect(handed).toMatchObject({ report: { runId: 1, durationMs: 3_000 } });
});

test('a run that nobody waits for any more is said to go on', async () => {
  const session = await tempMirror();
  const stop = new AbortController();
  const stopWaiting = (): Promise<void> => {
    stop.abort();
    return Promise.resolve();
  };
  const handed = await waitFor(session, stopWaiting, stop.signal);
  const detail = 'Nobody waits for it; run 1 goes on without.';
  expect(handed).toMatchObject({ report: { kinds: [{ state: 'aborted', reason: 'interrupted', detail }] } });
});
