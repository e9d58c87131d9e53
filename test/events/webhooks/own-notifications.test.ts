import { describe, expect, test } from 'vitest';
import { replayEvents, switchEndpoint } from '../../../src/events/webhooks/endpoint-activity.ts';
import { createStaleCheck } from '../../../src/checks/stale-kinds.ts';
import { createScheduleCheck } from '../../../src/runs/request-runs.ts';
import type { EndpointInput } from '../../../src/events/webhooks/endpoint-store.ts';
import { ZOE, create, opened, spoil, update, type Stage } from '../../outbound/stage.ts';
import { memoryLog } from '../../runs/engine/support.ts';
import { ONE_DATABASE } from '../support.ts';
import { startReceiver, verified, type Receiver } from './receiver.ts';
import { deliveryStageOn, type DeliveryStage } from './stage.ts';

/** Something that may need a person: how it begins, and what happens while it lasts. */
interface Happening {
  readonly begin: (on: Stage) => Promise<void>;
  readonly goOn: (on: Stage) => Promise<void>;
  readonly data: object;
  readonly text: string;
}

const MINUTE_S = 60;

async function pullLater(on: Stage, kind: string): Promise<void> {
  await on.clock.sleep(20 * MINUTE_S * 1000);
  await on.pull(kind);
}

/** What each process does that looks for stale kinds. */
async function lookForStale({ session, clock }: Stage, minutes: number): Promise<void> {
  const schedule = { name: 'all', cron: '*/15 * * * *', timezone: 'UTC', kinds: ['clients'], pages: null };
  const parts = { session, clock, logger: memoryLog().logger };
  await createScheduleCheck({ ...parts, owner: 'one' }, schedule)();
  const check = createStaleCheck(parts, [schedule]);
  await clock.sleep(minutes * MINUTE_S * 1000);
  for (let look = 0; look < 3; look += 1) await check();
}

const HAPPENINGS: Readonly<Record<string, Happening>> = {
  'kind.held': {
    begin: async (on) => {
      const { world } = on.service;
      for (const id of world.ids('clients').slice(0, 7)) world.remove('clients', id);
      for (let pull = 0; pull < 2; pull += 1) await pullLater(on, 'clients');
    },
    goOn: (on) => pullLater(on, 'clients'),
    data: { kind: 'clients', records: 7, since: expect.any(String) as string },
    text: expect.stringMatching(
      /^7 deletions of clients are held\. More than 5 records left the list at once, the limit in the settings\. \(.+, .+, .+ and 4 others\) Since .*2026.*\. bms-sync deletions$/,
    ) as string,
  },
  'entry.parked': {
    begin: async (on) => {
      await on.store(update('999999', { name: 'Ada' }));
      await on.work();
      await on.pass(900);
    },
    goOn: (on) => on.pass(3_600),
    data: { kind: 'clients', entryId: 1, operation: 'update', recordId: '999999', verdict: 'no_such_record' },
    text:
      'Entry 1 is parked: update of client 999999. The service has no record with this id, and no list ever showed one; nothing was sent. ' +
      '(Ada) bms-sync outbox show 1',
  },
  'entry.rejected': {
    begin: async (on) => {
      spoil(on, 'POST', { status: 422 });
      await on.store(create(ZOE));
      await on.work();
    },
    goOn: (on) => on.pass(3_600),
    data: { kind: 'clients', entryId: 1, operation: 'create', recordId: null, verdict: 'service_refused' },
    text:
      'Entry 1 is rejected: create of clients. The service refused it; the result has its message. ' +
      '(ZZ-1 · Zoé) bms-sync outbox show 1',
  },
  'kind.blocked': {
    begin: async (on) => {
      spoil(on, 'POST', { status: 403 }, { times: 3 });
      await on.store(create(ZOE));
      await on.work();
    },
    goOn: (on) => on.pass(301),
    data: { kind: 'clients', reason: 'status 403', entryId: 1, recordId: null },
    text:
      'Writes of clients are refused. The user of this token lacks the right in the service (status 403). Entry 1 was refused. ' +
      '(ZZ-1 · Zoé) Grant that user the right in the service, or use another token. bms-sync retries every few minutes. ' +
      'bms-sync outbox',
  },
  'kind.stale': {
    begin: (on) => lookForStale(on, 50),
    goOn: (on) => lookForStale(on, 1), // Another process, or this one after a restart.
    data: { kind: 'clients', since: '2026-03-01T12:00:00.000Z' },
    text: expect.stringMatching(
      /^The list of clients is stale\. Its scheduled pulls failed or did not run\. Since 1 Mar 2026, 12:00\. bms-sync pull clients$/,
    ) as string,
  },
};

interface AddedEndpoint {
  readonly receiver: Receiver;
  readonly secret: string;
}

async function add(hooks: DeliveryStage, name: string, wish: Partial<EndpointInput>): Promise<AddedEndpoint> {
  const receiver = await startReceiver();
  const { secret } = await hooks.add({ name, url: receiver.url, ...wish });
  return { receiver, secret };
}

const textIn = (body: string): unknown => {
  const { text, attachments } = JSON.parse(body) as {
    readonly text?: string;
    readonly attachments?: readonly {
      readonly content: { readonly body: readonly { readonly inlines: readonly object[] }[] };
    }[];
  };
  return text ?? attachments?.[0]?.content.body[0]?.inlines[0];
};

describe.each(ONE_DATABASE)('on %s', (database) => {
  test.each(Object.entries(HAPPENINGS))(
    '%s is told once when it begins, to those who want its kind, whatever changes and fields they want',
    async (type, { begin, goOn, data, text }) => {
      const on = await opened({ database, service: { size: 20 } });
      const hooks = deliveryStageOn(on.session, { at: new Date(on.clock.now().getTime() + 7_200_000) });
      const all = await add(hooks, 'all', {});
      const narrow = await add(hooks, 'narrow', {
        kinds: ['products', 'clients'],
        changes: ['deleted'],
        fields: ['email'],
      });
      const rooms = {
        slack: await add(hooks, 'slack', { format: 'slack' }),
        teams: await add(hooks, 'teams', { format: 'teams' }),
        text: await add(hooks, 'text', { format: 'text', kinds: ['clients'] }),
      };
      const deaf = [await add(hooks, 'other-kind', { kinds: ['bookings'] }), await add(hooks, 'off', {})];
      await switchEndpoint(on.session, 'off', 'disabled', on.clock.now());
      await begin(on);
      await hooks.deliver();
      await goOn(on);
      await replayEvents(on.session, 'all', 0, hooks.now());
      await hooks.deliver();
      for (const { receiver } of [all, narrow]) {
        const bodies = receiver.taken.map(({ body }) => JSON.parse(body) as object);
        expect(bodies).toEqual([{ type, timestamp: expect.any(String) as string, data }]);
      }
      const [first] = all.receiver.taken;
      expect(first?.id).not.toBe(narrow.receiver.taken[0]?.id);
      expect(rooms.slack.receiver.taken.map(({ body }) => textIn(body))).toEqual([text]);
      expect(rooms.teams.receiver.taken.map(({ body }) => textIn(body))).toEqual([{ type: 'TextRun', text }]);
      expect(rooms.text.receiver.taken.map(({ body }) => body)).toEqual([text]);
      expect(deaf.map(({ receiver }) => receiver.requests.length)).toEqual([0, 0]);
    },
  );
});

test('news is signed as events are, and tried again likewise', async () => {
  const on = await opened({ pulled: [] });
  const hooks = deliveryStageOn(on.session);
  let status = 500;
  const receiver = await startReceiver(() => ({ status }));
  const { secret } = await hooks.add({ url: receiver.url });
  await HAPPENINGS['entry.parked']?.begin(on);
  await hooks.deliver();
  status = 204;
  hooks.pass(5_000);
  await hooks.deliver();
  expect(new Set(receiver.requests.map(({ id }) => id)).size).toBe(1);
  for (const request of receiver.requests)
    expect(verified(request, secret)).toMatchObject({ type: 'entry.parked' });
  expect(receiver.taken).toHaveLength(1);
});

test.each(ONE_DATABASE)(
  'token.refused on %s is told to all at the second refusal in a row, once until the token works again',
  async (database) => {
    const on = await opened({ database, service: { size: 20 } });
    const hooks = deliveryStageOn(on.session, { at: new Date(on.clock.now().getTime() + 72_000_000) });
    const { receiver } = await add(hooks, 'bookings', { kinds: ['bookings'], format: 'text' });
    const pulls = async (statuses: readonly (401 | 200)[]): Promise<readonly string[]> => {
      for (const status of statuses) {
        if (status === 401) spoil(on, 'GET', { status });
        else on.service.setFaults([]);
        await pullLater(on, 'clients');
      }
      await hooks.deliver();
      return receiver.taken.splice(0).map(({ body }) => body);
    };
    const notification = expect.stringMatching(
      /^The service refuses the token\. No list can be read\. Since .*2026/,
    ) as string;
    expect(await pulls([401, 200, 401])).toEqual([]);
    expect(await pulls([401, 401, 401])).toEqual([notification]);
    expect(await pulls([200, 401])).toEqual([]);
    expect(await pulls([401, 401])).toEqual([notification]);
  },
);
