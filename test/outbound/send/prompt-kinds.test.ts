import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { renewLog } from '../../../src/store/kinds/meta.ts';
import { isPrompt } from '../../../src/store/outbox/prompt-kinds.ts';
import { noteAlteredKeys } from '../../../src/outbound/send/create.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { keepState } from '../../support/kept-state.ts';
import { asked, create, opened, spoil, type Stage } from '../stage.ts';

const DAY = 86_400;
const OWN_FAILURE = { status: 503, body: '{"success":false,"message":"Try later."}' };

/** Creates that are answered, day after day, with a complete sweep after each four. */
async function createDaily(on: Stage, { from = 1, to = 5 } = {}): Promise<void> {
  for (let day = from; day <= to; day++) {
    await on.pass(DAY);
    for (let n = 0; n < 4; n++) await on.send(create({ code: `D-${day}-${n}`, name: `Day ${day} no. ${n}` }));
    await on.clock.sleep(1000);
    await on.pull('clients');
  }
}

/** A create that the service did not carry out, whatever it answered. */
async function failedCreate(
  on: Stage,
  action: Parameters<typeof spoil>[2] = OWN_FAILURE,
  code = 'ZZ-1',
): Promise<number> {
  spoil(on, 'POST', action, { times: 1 });
  const id = await on.send(create({ code, name: `Client ${code}` }));
  on.service.setFaults([]);
  return id;
}

test('a create whose failure the service itself answered waits a 24th of patience, and tells why; any other one, all of it', async () => {
  const on = await opened();
  await createDaily(on);
  const id = await failedCreate(on);
  const others = [
    await failedCreate(on, { drop: 'before' }, 'CUT'),
    await failedCreate(on, { status: 503, body: '<html></html>' }, 'PROXY'),
    await failedCreate(on, { ...OWN_FAILURE, status: 502 }, 'GATEWAY'),
    await failedCreate(on, { ...OWN_FAILURE, status: 504 }, 'TIMEOUT'),
  ];
  await on.pass(300);
  const waiting = await on.entry(id);
  expect(waiting).toMatchObject({ state: 'unsettled', attempts: 1 });
  expect(explain(waiting).meaning).toMatch(/sent again at .* the service itself answered that it failed/);
  await on.pass(3300);
  expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  for (const seconds of [3600, 72_000]) await on.pass(seconds);
  for (const other of others)
    expect(await on.entry(other)).toMatchObject({ state: 'unsettled', attempts: 1 });
  expect(asked(on, 'POST')).toHaveLength(20 + 6);
});

test('time stands while the latest sweep has certified nothing', async () => {
  const on = await opened();
  await createDaily(on);
  const id = await failedCreate(on);
  on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
  await on.pass(300);
  await on.pass(3 * 3600 - 300);
  on.service.setFaults([]);
  await on.pull('clients');
  await on.work();
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
  await on.pass(3600);
  expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
});

describe('a kind is not prompt', () => {
  const isPromptNow = (on: Stage): Promise<boolean> => isPrompt(on.session, 'clients');

  test('before the fifth day, nor once its mirror or keys are others, or the next complete sweep lacks a single create', async () => {
    const on = await opened();
    await createDaily(on, { to: 4 });
    for (let n = 0; n < 6; n++) await on.send(create({ code: `M-${n}`, name: `More ${n}` }));
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await isPromptNow(on)).toBe(false);
    await createDaily(on, { from: 5 });

    const changes: Record<string, () => Promise<unknown>> = {
      'a mirror that was restored': () => on.session.atomically(renewLog),
      'another source': () =>
        on.session.atomically((tx) => tx.query(sql`update kind_state set known_from = tick`)),
      'altered natural keys': () =>
        on.session.atomically((tx) => noteAlteredKeys(tx, 'clients', on.clock.now())),
    };
    for (const [what, change] of Object.entries(changes)) {
      expect(await isPromptNow(on), what).toBe(true);
      const { restore } = await keepState(on.session);
      await change();
      expect(await isPromptNow(on), what).toBe(false);
      await restore();
    }

    expect(await isPromptNow(on)).toBe(true);
    const late = await on.send(create());
    on.service.world.remove('clients', Number((await on.entry(late)).recordId));
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await isPromptNow(on)).toBe(false);
  });

  test('by creates that were lost, and found later', async () => {
    const on = await opened();
    await createDaily(on, { to: 4 });
    await on.pass(DAY);
    for (let n = 0; n < 4; n++) {
      spoil(on, 'POST', { drop: 'after' }, { times: 1 });
      await on.send(create({ code: `L-${n}`, name: `Lost ${n}` }));
      await on.pass(300);
    }
    await on.clock.sleep(1000);
    await on.pull('clients');
    expect(await on.rows(sql`select 1 from links`)).toHaveLength(20);
    expect(await isPromptNow(on)).toBe(false);
  });
});
