import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { mirror, rewriting, sandbox } from './support.ts';
import {
  ALL,
  ONE_DATABASE,
  MIRRORS,
  backfillFrom,
  eventsOf,
  instantAt,
  kindState,
  openIssueCodes,
  pullOne,
  shortEvents,
} from './steps.ts';

const kind = 'clients';
/** No list is read twice in one pull, as if it were long. */
const rules = { repeatBelowPages: 0 };

const add = ({ world }: Sandbox, code: string): number =>
  Number(world.insert(kind, { code, name: code })['id']);

/** A service whose list always claims one row more than it shows. */
const neverFitting = (service: Sandbox): Promise<Sandbox> =>
  rewriting(service, (body) =>
    body.replace(/"total":(\d+)/, (_, total: string) => `"total":${Number(total) + 1}`),
  );

describe.each(ONE_DATABASE)('%s', (database) => {
  test('the first pull is silent, and what comes after it is not', async () => {
    const service = await sandbox();
    const session = await MIRRORS[database]();

    expect(await pullOne(service, session, { kind })).toMatchObject({ state: 'certified', created: 60 });
    expect(await eventsOf(session)).toEqual([]);
    expect(await kindState(session, kind)).toMatchObject({
      baseline_at: instantAt(0),
      certified_at: instantAt(0),
      complete_sweeps: 1,
    });

    const id = add(service, 'N');
    await pullOne(service, session, { kind, minute: 10 });
    expect(await shortEvents(session)).toEqual([`${id} created`]);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a certificate is that of the last sweep, although the clock was set back a day', async () => {
    const service = await sandbox();
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    await pullOne(service, session, { kind, minute: -1_440 });
    expect(await kindState(session, kind)).toMatchObject({ certified_at: instantAt(-1_440) });
  });

  test('until the first certificate, a record that is new to the mirror may be old', async () => {
    const service = await sandbox({ size: 260 });
    const session = await MIRRORS[database]();
    const first = await pullOne(service, session, { kind, rules });
    expect(first).toMatchObject({ state: 'complete', certifiedAt: null });
    expect(await kindState(session, kind)).toMatchObject({ baseline_at: null, certified_at: null });

    add(service, 'BETWEEN');
    const second = await pullOne(service, session, { kind, rules, minute: 10 });
    expect(second).toMatchObject({ created: 1 });
    expect(await eventsOf(session)).toEqual([]);

    const third = await pullOne(service, session, { kind, rules, minute: 20 });
    expect(third).toMatchObject({ state: 'certified' });
    const id = add(service, 'AFTER');
    await pullOne(service, session, { kind, rules, minute: 30 });
    expect(await shortEvents(session)).toEqual([`${id} created`]);
    expect(await openIssueCodes(session)).toEqual([]);
  });

  test('three sweeps without a certificate end it, with an issue that a certificate closes', async () => {
    const honest = await sandbox({ size: 260 });
    const session = await MIRRORS[database]();
    const service = await neverFitting(honest);
    const baseUrl = honest.url;
    for (const minute of [0, 10]) {
      const report = await pullOne(service, session, { kind, rules, minute, baseUrl });
      expect(report).toMatchObject({ state: 'complete', reason: 'total_differs', certifiedAt: null });
      add(honest, `N${minute}`);
    }
    expect(await openIssueCodes(session)).toEqual([]);
    await pullOne(service, session, { kind, rules, minute: 20, baseUrl });
    expect(await openIssueCodes(session)).toEqual(['baseline_uncertified']);
    expect(await kindState(session, kind)).toMatchObject({ baseline_at: instantAt(20), certified_at: null });
    expect(await eventsOf(session)).toEqual([]);

    const id = add(honest, 'NEW');
    const gone = honest.world.ids(kind)[0] ?? 0;
    honest.world.remove(kind, gone);
    for (const [minute, deleted] of [
      [30, 0],
      [50, 0], // The second complete sweep that does not show it: it is asked for.
      [70, 1],
    ] as const)
      expect(await pullOne(service, session, { kind, rules, minute, baseUrl })).toMatchObject({ deleted });
    expect(await eventsOf(session)).toMatchObject([
      { record_id: String(id), change: 'created', observed_from: null },
      { record_id: String(gone), change: 'deleted' },
    ]);
    expect(await openIssueCodes(session)).toEqual(['baseline_uncertified']);

    for (const minute of [90, 110, 130]) await pullOne(honest, session, { kind, rules, minute });
    expect(await openIssueCodes(session)).toEqual([]);
    expect(await eventsOf(session)).toHaveLength(2);
  });
});

test('sweeps that break off do not count', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  for (const minute of [0, 10, 20, 30, 40]) {
    service.setFaults([{ on: { kind, page: 2 }, do: { status: 503 } }]);
    await pullOne(service, session, { kind, rules, minute });
  }
  expect(await kindState(session, kind)).toMatchObject({ baseline_at: null, complete_sweeps: 0 });
});

test('a backfill never ends it, and never makes a created event before it', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  await pullOne(service, session, { kind, rules });
  for (const minute of [10, 20, 30, 40]) {
    add(service, `N${minute}`);
    await backfillFrom(service, session, { kind, extent: ALL, minute });
  }
  expect(await kindState(session, kind)).toMatchObject({
    baseline_at: null,
    certified_at: null,
    complete_sweeps: 1,
    state: 'complete',
  });
  expect(await eventsOf(session)).toEqual([]);
});

test('changes are events from the first pull on', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  await pullOne(service, session, { kind, rules });
  const id = service.world.ids(kind)[0] ?? 0;
  service.world.update(kind, id, { city: 'Matane' });
  await pullOne(service, session, { kind, rules, minute: 10 });

  expect(await eventsOf(session)).toMatchObject([
    { record_id: String(id), change: 'updated', observed_from: null },
  ]);
});
