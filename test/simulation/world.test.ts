import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import { blankMirror } from './blank-mirror.ts';
import { presenceNow } from './ledger.ts';
import { PERSONALITIES } from './personalities.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';
import { answerTo } from './service.ts';
import type { ServedKind } from './service.ts';
import { createTimeline } from './timeline.ts';
import { createWorld } from './world.ts';

const clients = LISTED_KINDS.find(({ name }) => name === 'clients') as ListedKind;
const random = randomFrom('world');

function served(
  rows: number,
  personality: keyof typeof PERSONALITIES = 'honest',
): ServedKind & { nowMs: number } {
  const kind = { nowMs: 0 };
  const plan = { kind: clients, order: 'code' as const, rows, largeIds: false };
  const world = createWorld(plan, { random, nowMs: () => kind.nowMs });
  const lie = PERSONALITIES[personality].lie(random);
  return Object.assign(kind, { world, paging: { size: 5, hasMeta: true }, lie, retrieve: undefined });
}

interface Body {
  readonly data: readonly { readonly id: number; readonly code: string }[];
  readonly meta: object;
}

function page(kind: ServedKind & { nowMs: number }, number: number): Body {
  const reading = answerTo([kind], `/api/clients?page=${number}&per_page=100`);
  reading.readRows(kind.nowMs, random);
  reading.readTotal(kind.nowMs, random);
  return JSON.parse(Buffer.from(reading.answer().bytes).toString()) as Body;
}

test('an honest list is sorted, cut into pages of its own size, and says so', () => {
  const kind = served(12);
  const pages = [1, 2, 3, 4].map((number) => page(kind, number));
  expect(pages.map(({ data }) => data.length)).toEqual([5, 5, 2, 0]);
  expect(pages[2]?.meta).toEqual({ current_page: 3, last_page: 3, per_page: 5, total: 12 });
  const codes = pages.flatMap(({ data }) => data.map(({ code }) => code));
  expect(codes).toEqual([...codes].sort());
});

test('the ledger knows every change, and when', () => {
  const kind = served(3);
  kind.nowMs = 10;
  kind.world.change('insert');
  kind.nowMs = 20;
  kind.world.change('delete');
  const histories = [...kind.world.ledger.histories.values()];
  expect(histories).toHaveLength(4);
  expect(histories.filter((history) => presenceNow(history) === 'gone')).toHaveLength(1);
  expect(kind.world.listAt(15)).toHaveLength(4);
  expect(kind.world.listAt(25)).toHaveLength(3);
});

test('a record that is gone is answered in the words of the service', () => {
  const kind = served(1);
  const id = [...kind.world.ledger.histories.keys()][0] ?? '';
  const status = (): number => {
    const reading = answerTo([kind], `/api/clients/${id}`);
    reading.readRows(kind.nowMs, random);
    return reading.answer().status;
  };
  expect(status()).toBe(200);
  kind.nowMs = 1;
  kind.world.change('delete');
  expect(status()).toBe(404);
});

test.each([
  ['ignorePage', 2, [5, 5]],
  ['clampToLast', 9, [5, 2]],
] as const)('a service of the kind %s shows another page than was asked for', (name, number, [, rows]) => {
  expect(page(served(12, name), number).data).toHaveLength(rows);
});

test('time passes only while nobody is at work, and sleeps take no time', async () => {
  const timeline = createTimeline({ random, together: 0 });
  const seen: number[] = [];
  const work = async (): Promise<void> => {
    await timeline.clock.sleep(60_000);
    seen.push(timeline.nowMs());
    await timeline.clock.sleep(1_000);
    seen.push(timeline.nowMs());
  };
  await timeline.drive(work());
  expect(seen).toEqual([60_000, 61_000]);
});

test('a sleep that is called off ends with the reason', async () => {
  const timeline = createTimeline({ random, together: 0 });
  const stop = new AbortController();
  timeline.after(5, () => {
    stop.abort(new Error('enough'));
  });
  await expect(timeline.drive(timeline.clock.sleep(60_000, stop.signal))).rejects.toThrow('enough');
  expect(timeline.nowMs()).toBe(5);
});

const blank = blankMirror();

test('a seed gives the same history every time, however long the code under test is given to show life', async () => {
  for (const seed of [3, 11, 14]) {
    const once = await runSchedule(scheduleOf(seed), { session: await blank() });
    const again = await runSchedule(scheduleOf(seed), { session: await blank(), quietTurns: 12 });
    const contents = [once, again].map(({ pulls, changes }) => ({
      changes: changes.map((change) => ({ ...change, seq: 0, runId: 0 })),
      pulls: pulls.map(({ fromMs, toMs, states }) => ({ fromMs, toMs, states })),
    }));
    expect(contents[1]).toEqual(contents[0]);
  }
});
