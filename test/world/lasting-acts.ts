import { sql } from 'drizzle-orm';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { readEntries } from '../../src/store/outbox/outbox-store.ts';
import { askForSweep, pushCreate, pushPlan, pushTo } from './applications.ts';
import { bodiesOf } from './bodies.ts';
import { filledIn, lastsMs } from './lasting-draws.ts';
import { dumpMirror } from './dump.ts';
import { isOurs, type Row } from './records.ts';
import type { Stage } from './stage.ts';
import { storedFields } from './stored.ts';
import type { Trait } from './traits.ts';

const MINUTE = 60_000;

const MOST_SWEEPS = 4;

/** Once the mirror knows all there is, a trouble begins that outlasts patience. Returns when it ends; null where it did not begin. */
export async function beginTrouble(stage: Stage): Promise<number | null> {
  const { timeline, service, personality, random, logLine } = stage;
  for (let sweep = 0; !(await knowsAll(stage)); sweep++) {
    if (sweep === MOST_SWEEPS) return null;
    await askForSweep(stage);
    await timeline.clock.sleep(16 * MINUTE);
  }
  const untilMs = timeline.nowMs() + lastsMs(stage.lasting, random);
  logLine(`— ${stage.lasting.join()} until ${untilMs}`);
  service.begin(timeline.nowMs(), untilMs);
  if (personality.token !== 'one user’s') lendToken(stage, untilMs);
  if (personality.succession !== 'none') stage.unsentUntilMs = untilMs;
  if (personality.approval !== 'none' || personality.cut !== 'whole') await bearWitness(stage);
  return untilMs;
}

/** Our settings get another user's token, and the first one back in the end. */
function lendToken(stage: Stage, untilMs: number): void {
  const { timeline, personality } = stage;
  stage.otherTokenUntilMs = untilMs;
  stage.hasOtherToken = personality.token === 'another user’s for days';
  timeline.after(untilMs - timeline.nowMs(), () => {
    stage.hasOtherToken = false;
  });
}

/** Whether the mirror has a record that no list shows. */
async function knowsMore({ session, kinds }: Stage): Promise<boolean> {
  const { kinds: dumps } = await session.atomically((tx) => dumpMirror(tx, kinds));
  return kinds.some(({ name }) =>
    [...(dumps.get(name)?.rows.values() ?? [])].some(({ isListed }) => !isListed),
  );
}

async function knowsAll({ session, service, kinds, timeline }: Stage): Promise<boolean> {
  const { kinds: dumps } = await session.atomically((tx) => dumpMirror(tx, kinds));
  timeline.stir();
  return kinds.every(({ name }) => {
    const live = [...(dumps.get(name)?.rows.values() ?? [])].filter(({ deletedAt }) => deletedAt === null);
    const rows = service.records.get(name)?.at(timeline.nowMs()) ?? [];
    return (
      typeof dumps.get(name)?.certifiedAt === 'string' &&
      live.length === rows.length &&
      rows.every(({ id }) => live.some((row) => row.id === id))
    );
  });
}

/** A create that is answered as it should be: a list that does not show its record is not whole. */
async function bearWitness(stage: Stage): Promise<void> {
  const { service, session, timeline } = stage;
  service.calm();
  await pushCreate(stage, 7);
  for (let minutes = 0; minutes < 30; minutes += 5) {
    await timeline.clock.sleep(5 * MINUTE);
    const entries = await readEntries(session, sql`select * from outbox`);
    timeline.stir();
    const isKnown = entries.some(
      ({ state, verdict, recordId }) => state === 'done' && verdict === 'sent' && recordId !== null,
    );
    if (!isKnown) continue;
    stage.witness = (await knowsMore(stage)) ? 'a row' : 'an id';
    break;
  }
  service.rouse();
}

/** What people do in such a time, beside what they do anyway. */
export function actsDuring(stage: Stage): readonly (() => Promise<void>)[] {
  const kinds = new Set(stage.lasting.map((name) => ACTS[name]));
  return stage.hasBegun ? [...kinds].flatMap((acts) => acts?.(stage) ?? []) : [];
}

type Acts = (stage: Stage) => readonly (() => Promise<void>)[];

const moreCreates: Acts = (stage) => [1, 2].map((number) => () => pushCreate(stage, 100 + number));

/** The first ones first: a kind is tried again by the entry that came first. */
const forbiddenFirst: Acts = (stage) => [
  async () => {
    for (const kind of stage.kinds) {
      const apart = stage.service.apart(kind.name);
      const rows = rowsOf(stage, kind).toSorted((a, b) => Number(apart.has(b.id)) - Number(apart.has(a.id)));
      for (const [number, { id }] of rows.slice(0, 5).entries()) await update(stage, kind, id, 110 + number);
    }
  },
];

/** Records with an update that waits are deleted, and their ids given to others. */
const succeed: Acts = (stage) =>
  [0, 1].map((number) => async () => {
    const { timeline, service, random, personality } = stage;
    const isAlike = personality.succession === 'ids given to alike';
    const kind = random.pick(stage.kinds);
    const row = rowsOf(stage, kind)[number];
    const records = service.records.get(kind.name);
    if (row === undefined || records === undefined || (isAlike && kind.name === 'projects')) return;
    if (isAlike) await settleIn(stage, kind, row);
    await update(stage, kind, row.id, 130 + 10 * number);
    await timeline.clock.sleep(random.integer(1, 60) * MINUTE);
    service.advance(timeline.nowMs());
    records.remove(row.id, timeline.nowMs());
    if (random.chance(0.5)) {
      await askForSweep(stage);
      await timeline.clock.sleep(random.integer(1, 50) * MINUTE);
    }
    const body = bodiesOf(kind).create(7_000 + number, random);
    const filled = isAlike ? TOWN : filledIn(kind, 7_000 + number);
    const other = storedFields(kind, { ...body, ...filled }, personality);
    records.succeed(row.id, other, timeline.nowMs());
    stage.logLine(`~ ${kind.name} ${row.id} is another one's now`);
    if (random.chance(0.5)) await askForSweep(stage);
  });

/** What clients of one town share. */
const TOWN = { city: 'Hull', state: 'QC', zipcode: 'J8X 1A1', website: 'hull.example', fax: '' };

/** A record gets what others have as well, and the mirror reads it. */
async function settleIn(stage: Stage, kind: ListedKind, row: Row): Promise<void> {
  const { service, timeline } = stage;
  if (kind.name === 'clients')
    service.records.get(kind.name)?.edit(row.id, TOWN, { atMs: timeline.nowMs(), actor: 'other' });
  await askForSweep(stage);
  await timeline.clock.sleep(MINUTE);
}

/** Two updates of one record, one some time after the other. */
const twice: Acts = (stage) => [
  async () => {
    const { random, timeline } = stage;
    const kind = random.pick(stage.kinds);
    const row = anyRow(stage, kind);
    if (row === undefined) return;
    const body = bodiesOf(kind).edit(151, random);
    await pushTo(stage, { kind: kind.name, recordId: row.id, body }, 151);
    await timeline.clock.sleep(random.integer(5, 90) * MINUTE);
    if (random.chance(0.5)) await askForSweep(stage);
    await timeline.clock.sleep(random.integer(5, 90) * MINUTE);
    const next = bodiesOf(kind).edit(152, random);
    const again = Object.fromEntries(
      Object.keys(body).map((name) => [name, next[name] ?? newValue(body[name])]),
    );
    await pushTo(stage, { kind: kind.name, recordId: row.id, body: again }, 152);
  },
];

function newValue(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  const text = String(value);
  if (/^\d\d:\d\d/.test(text)) return '23:45';
  return /^\d+\.\d\d$/.test(text) ? '77.70' : `${text}1`;
}

const someUpdates: Acts = (stage) =>
  [0, 1, 2, 3].map((number) => async () => {
    const kind = stage.random.pick(stage.kinds);
    const row = anyRow(stage, kind);
    if (row !== undefined) await update(stage, kind, row.id, 160 + number);
  });

/** Another person has the same idea as our plan, before or after it. */
const sameIdea: Acts = (stage) =>
  [0, 1].map((number) => async () => {
    const { random, timeline, service, personality } = stage;
    const kind = random.pick(stage.kinds);
    const row = rowsOf(stage, kind)[number];
    if (row === undefined) return;
    const body = bodiesOf(kind).edit(170 + number, random);
    await pushPlan(stage, { kind: kind.name, recordId: row.id, body });
    timeline.after(random.integer(1, 10 * MINUTE), () => {
      service.advance(timeline.nowMs());
      const fields = storedFields(kind, body, personality);
      const by = { atMs: timeline.nowMs(), actor: 'other' } as const;
      if (!stage.isCalm) service.records.get(kind.name)?.edit(row.id, fields, by);
    });
  });

const ACTS: { readonly [Name in Trait]?: Acts } = {
  rights: someUpdates,
  maintenance: someUpdates,
  token: someUpdates,
  approval: moreCreates,
  cut: moreCreates,
  spelling: twice,
  volatile: twice,
  ownShown: twice,
  forbidden: forbiddenFirst,
  succession: succeed,
  downtimes: someUpdates,
  named: moreCreates,
  likeMinded: sameIdea,
};

const anyRow = (stage: Stage, kind: ListedKind): Row | undefined => {
  const rows = rowsOf(stage, kind);
  return rows[stage.random.integer(0, Math.max(0, rows.length - 1))];
};

/** Records of others, the oldest first. */
function rowsOf({ service, timeline }: Stage, { name }: ListedKind): readonly Row[] {
  const records = service.records.get(name);
  return records?.at(timeline.nowMs()).filter(({ id }) => !isOurs(records, id)) ?? [];
}

function update(stage: Stage, kind: ListedKind, recordId: string, number: number): Promise<void> {
  return pushTo(
    stage,
    { kind: kind.name, recordId, body: bodiesOf(kind).edit(number, stage.random) },
    number,
  );
}

/** Lets the trouble last, with a sweep every few hours as schedules ask for them. */
export async function outlast(stage: Stage, untilMs: number): Promise<void> {
  const { timeline, random, service, personality } = stage;
  while (timeline.nowMs() < untilMs) {
    const longest = personality.keeping !== 'short' ? 60 : personality.unlisted === 'none' ? 400 : 1_400;
    const delayMs = random.integer(20, longest) * MINUTE;
    await timeline.clock.sleep(Math.min(delayMs, untilMs - timeline.nowMs() + 1));
    service.advance(timeline.nowMs());
    if (personality.keeping !== 'short') moveOne(stage);
    await askForSweep(stage);
  }
}

/** A record gets another place in the list: by another code, or because an earlier one is deleted. */
function moveOne(stage: Stage): void {
  const { random, service, timeline } = stage;
  if (random.chance(0.5)) return;
  const kind = random.pick(stage.kinds);
  const row = anyRow(stage, kind);
  if (row === undefined) return;
  if (!('code' in row.content)) {
    service.records.get(kind.name)?.remove(row.id, timeline.nowMs());
    return;
  }
  const by = { atMs: timeline.nowMs(), actor: 'other' } as const;
  service.records
    .get(kind.name)
    ?.edit(row.id, { code: `${random.pick(['a', 'm', 'zzz'])}-${timeline.nowMs()}` }, by);
}
