import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/mirror/session/session.ts';
import { mirror, rewriting, sandbox } from './support.ts';
import { DATABASES, MIRRORS, eventsOf, pullOne } from './steps.ts';

const kind = 'clients';

async function flaps(session: Session): Promise<string[]> {
  const rows = await session.query(
    sql`select field, detail from drift where code = 'flapping_field' order by id`,
  );
  return rows.map(({ field, detail }) => `${String(field)} ${String(detail).split(',')[0] ?? ''}`);
}

describe.each(DATABASES)('%s', (database) => {
  test('a field that goes to and fro is reported once, and its events stay true', async () => {
    const [service, session] = [await sandbox(), await MIRRORS[database]()];
    const id = service.world.ids(kind)[0] ?? 0;
    service.world.update(kind, id, { city: 'A' });
    await pullOne(service, session, { kind });
    for (const [index, city] of ['B', 'A', 'B', 'A', 'B'].entries()) {
      service.world.update(kind, id, { city });
      await pullOne(service, session, { kind, minute: 10 * (index + 1) });
      expect(await flaps(session)).toEqual(index < 2 ? [] : ['city goes to and fro']);
    }
    expect(await eventsOf(session)).toHaveLength(5);
  });
});

test('a field that is another one at every reading is reported; ignored, it makes no events', async () => {
  const [honest, session] = [await sandbox(), await mirror()];
  let reading = 0;
  const service = await rewriting(honest, (body) =>
    body.replaceAll(/"code":"/g, () => `"seen_at":"${reading++}","code":"`),
  );
  for (const minute of [0, 10, 20]) await pullOne(service, session, { kind, minute });
  expect(await flaps(session)).toEqual([]);
  await pullOne(service, session, { kind, minute: 30 });
  expect(await flaps(session)).toEqual(['seen_at is another one at every reading']);

  const events = (await eventsOf(session)).length;
  const rules = { ignoreFields: { clients: ['seen_at'] } };
  for (const minute of [40, 50]) await pullOne(service, session, { kind, minute, rules });
  expect(await eventsOf(session)).toHaveLength(events);
  expect(await flaps(session)).toHaveLength(1);
});

test('an honest bulk change is none', async () => {
  const [service, session] = [await sandbox(), await mirror()];
  await pullOne(service, session, { kind });
  for (const [index, city] of ['A', 'B'].entries()) {
    for (const id of service.world.ids(kind)) service.world.update(kind, id, { city });
    await pullOne(service, session, { kind, minute: 10 * (index + 1) });
  }
  expect(await flaps(session)).toEqual([]);
});
