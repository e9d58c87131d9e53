import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import { saveErasure } from '../../../src/store/records/erasure-store.ts';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { startReceiver } from '../../events/webhooks/receiver.ts';
import { deliveryStageOn } from '../../events/webhooks/stage.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { MARK, canary } from '../../support/canary.ts';
import { placesOf } from '../../support/places-of.ts';
import { create, enter, opened, spoil, update, type Stage, type Wish } from '../stage.ts';

/** The value of an excluded field: wherever it comes to light, the watch of the tests finds it. */
const HIDDEN = canary('@example.test');
const RECORD = `{"id":7,"code":"A","email":"${HIDDEN}"}`;

/** The ways in which a service may wrap a record in an answer to a write, or repeat its values. */
const ANSWERS = [
  RECORD,
  `{"data":${RECORD}}`,
  `{"data":[${RECORD}],"success":true}`,
  `{"results":[{"result":${RECORD}}]}`,
  `{"data":{"client":${RECORD}},"success":true}`,
  `[[${RECORD}]]`,
  `{"id":7,"result":${RECORD}}`,
  `{"message":"${HIDDEN} is kept"}`,
  `{"errors":{"email":["${HIDDEN} is taken"]}}`,
  `{"errors":{"code":["the record of ${HIDDEN} has this code"]}}`,
  `{"errors":[{"field":"email","value":"${HIDDEN}"}]}`,
  `{"${HIDDEN}":{"id":7}}`,
  `{"columns":["id","email"],"rows":[[7,"${HIDDEN}"]]}`,
  JSON.stringify({ data: RECORD }),
  JSON.stringify(RECORD),
  `<html>${HIDDEN}</html>`,
  `email=${HIDDEN}`,
  `{"id":7,"email":"${HIDDEN}`,
];

const STATUSES = [201, 422, 500];

const excluding = KINDS.map((kind) => excludeFields(kind, kind.name === 'clients' ? ['email'] : []));

test.each(ONE_DATABASE)(
  'in %s, an excluded value is in no table, file, log or delivery, however the answer to a write wraps it',
  async (database) => {
    const on = await opened({ database, parts: { kinds: excluding } });
    const receiver = await startReceiver();
    const webhooks = deliveryStageOn(on.session, { at: on.clock.now() });
    await webhooks.add({ url: receiver.url });
    for (const [n, body] of ANSWERS.entries())
      for (const status of STATUSES) await writeUnder(on, { statusAfter: status, body }, `${n} ${status}`);
    await on.pull('clients');
    await webhooks.deliver();
    expect(receiver.taken.length).toBeGreaterThan(ANSWERS.length);
    expect(receiver.taken.filter(({ body }) => body.includes(MARK))).toEqual([]);
    expect(await placesOf(on.session, [MARK])).toEqual([]);
    const [counted] = await on.rows(
      sql`select count(*) as n from outbox_attempts where response_start is not null`,
    );
    expect(Number(counted?.['n'])).toBeGreaterThanOrEqual(6 * ANSWERS.length);
  },
);

/** Creates a record and updates another, while all answers to writes are these. */
async function writeUnder(on: Stage, action: FaultAction, name: string): Promise<void> {
  const id = enter(on, { code: `of ${name}`, name: 'Zoé', email: HIDDEN });
  on.service.setFaults(['POST', 'PUT'].map((method) => ({ on: { kind: 'clients', method }, do: action })));
  await on.store(create({ code: name, name }));
  await on.store(update(id, { city: name }));
  await due(on);
}

async function due({ outbox }: Stage): Promise<void> {
  for (const entry of await outbox.due(100)) await outbox.work(entry);
}

test.each(ONE_DATABASE)(
  'in %s, nothing of a record that is kept out is stored, whatever the answer to an update of it says',
  async (database) => {
    const on = await opened({ database });
    const id = enter(on, { code: 'A', name: 'Zoé', email: HIDDEN, phone: HIDDEN });
    await on.session.atomically((tx) =>
      saveErasure(tx, { kind: 'clients', id, by: 'a person', isSuppressed: true, now: on.clock.now() }),
    );
    await on.pull('clients');
    const push = async (action: FaultAction, wish: Wish): Promise<void> => {
      spoil(on, 'PUT', action);
      await on.store(wish);
      await due(on);
      await on.pass(60); // The service may be asked a second time.
      const ended = sql`update outbox set state = 'abandoned' where state in ('ready', 'parked')`;
      await on.session.atomically((tx) => tx.query(ended));
      on.service.world.update('clients', Number(id), { email: HIDDEN });
    };
    for (const [n, body] of ANSWERS.entries())
      for (const statusAfter of STATUSES)
        await push(
          { statusAfter, body },
          update(id, { city: `Alma ${n} ${statusAfter}`, email: 'x@example.test' }),
        );
    await push({ ignoreFields: ['email'] }, update(id, { email: 'x@example.test' }));
    await push(
      { latencyMs: 0 },
      { ...update(id, { email: 'x@example.test' }), base: { email: 'y@example.test' } },
    );
    expect(await on.rows(sql`select distinct verdict from outbox`)).toEqual(
      expect.arrayContaining(
        ['sent', 'service_refused', 'not_applied', 'conflict'].map((verdict) => ({ verdict })),
      ),
    );
    expect(await placesOf(on.session, [MARK])).toEqual([]);
  },
);
