import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import { compactJson, isObject, parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { UsageError } from '../../src/lib/sync-error.ts';
import { insertEntry } from '../../src/mirror/outbox/outbox-store.ts';
import { requestPull } from '../../src/mirror/runs/run-requests.ts';
import { storeEntries } from '../../src/outbound/intake/intake.ts';
import { SHAPES, lookAlike } from './shapes.ts';
import type { Service, Stage } from './stage.ts';
import { storedFields } from './written-value.ts';

const MINUTE = 60_000;

/** What an application wants to have done, before it is stored. */
export interface Wish {
  readonly service: Service;
  readonly operation: 'create' | 'update';
  readonly body: JsonObject;
  readonly recordId: string | null;
  /** The application knows that an equal one was asked for before, and means it. */
  readonly allowDouble: boolean;
}

/** A create; people may enter the same, or nearly. */
export function wishCreate(stage: Stage, number: number): Wish {
  const { random, schedule, services, timeline } = stage;
  const service = random.pick(services);
  const { name } = service;
  const earlier = [...stage.intents.values()].find((one) => one.kind === name && one.operation === 'create');
  const isEqual = earlier !== undefined && random.chance(schedule.equals);
  const body = isEqual ? earlier.body : SHAPES[name].create(`${schedule.seed}-${number}`, random);
  const soon = (other: JsonObject): void =>
    void timeline.after(random.integer(0, 40 * MINUTE), () => {
      enter(service, other);
    });
  if (random.chance(schedule.lookAlikes)) soon(lookAlike(name, body, service.normalizer));
  if (random.chance(schedule.strangers)) soon(body);
  return { service, operation: 'create', body, recordId: null, allowDouble: isEqual && random.chance(0.7) };
}

function enter({ world, normalizer }: Service, body: JsonObject): void {
  world.create(storedFields(world.kind, body, normalizer), 'person');
}

/** An update of one of these records; a person may change the same fields. Null where there is none. */
export function wishUpdate(
  { random, schedule, timeline }: Stage,
  {
    service,
    ids,
    number,
  }: { readonly service: Service; readonly ids: readonly string[]; readonly number: number },
): Wish | null {
  if (ids.length === 0) return null;
  const { name, world, normalizer } = service;
  const recordId = random.pick(ids);
  const unique = `${schedule.seed}-${number}`;
  const fields = Object.entries(SHAPES[name].editable);
  const picked = [random.pick(fields), random.pick(fields)].slice(0, random.integer(1, 2));
  const body = Object.fromEntries(picked.map(([field, value]) => [field, value(unique, random)]));
  if (random.chance(schedule.conflicts)) {
    const others = Object.fromEntries(picked.map(([field, value]) => [field, value(`p${unique}`, random)]));
    timeline.after(random.integer(0, 2 * MINUTE), () => {
      world.edit(recordId, storedFields(world.kind, others, normalizer), 'person');
    });
  }
  return { service, operation: 'update', body, recordId, allowDouble: false };
}

/** Has an application store a create. */
export async function pushCreate(stage: Stage, number: number): Promise<void> {
  const wish = wishCreate(stage, number);
  const hasPrecedent = stage.random.chance(stage.schedule.precedents);
  if (hasPrecedent) {
    enter(wish.service, wish.body);
    await askForSweep(stage);
    await stage.timeline.clock.sleep(10 * MINUTE);
  }
  await store(stage, { ...wish, allowDouble: wish.allowDouble || hasPrecedent }, number);
}

/** Has an application store an update of some record that the mirror knows. */
export async function pushUpdate(stage: Stage, number: number): Promise<void> {
  const service = stage.random.pick(stage.services);
  const rows = await stage.session.query(sql`
    select cast(id as text) as id from ${sql.identifier(service.name)} where _deleted_at is null order by id`);
  const ids = rows.map(({ id }) => String(id)).filter((id) => isRecognizable(stage, service, id));
  const wish = wishUpdate(stage, { service, ids, number });
  if (wish !== null) await store(stage, wish, number);
}

/** As `push` does it, or as an application does by SQL: then nobody says what was there before. */
async function store(stage: Stage, wish: Wish, number: number): Promise<void> {
  const { operation, body, recordId, service } = wish;
  const intent = { kind: service.name, operation, body, recordId, atMs: stage.timeline.nowMs() };
  const bySql = stage.random.chance(0.3);
  const id = bySql ? await insert(stage, wish, number) : await push(stage, wish, number);
  if (id === null) return;
  stage.intents.set(id, { ...intent, entry: id });
  stage.say(
    `+ entry ${id}: ${operation} ${service.name} ${recordId ?? ''} ${compactJson(body)}${bySql ? ' by SQL' : ''}`,
  );
  stage.wakeUp.wake();
}

async function insert({ session, timeline }: Stage, wish: Wish, number: number): Promise<number | null> {
  const { service, operation, body, recordId, allowDouble: allowsDouble } = wish;
  const row = { key: `key-${number}`, kind: service.name, operation, recordId, payload: compactJson(body) };
  const now = timeline.clock.now();
  return session.atomically((tx) =>
    insertEntry(tx, { ...row, base: null, naturalKey: null, allowsDouble, now }),
  );
}

/** Null where the gate refuses it, and the application leaves it at that. */
async function push({ session, timeline, say }: Stage, wish: Wish, number: number): Promise<number | null> {
  const { service, operation, body: data, recordId, allowDouble } = wish;
  const request = { operation, kind: service.name, data, key: `key-${number}`, allowDouble };
  const requests = [{ ...request, ...(recordId !== null && { id: recordId }) }];
  try {
    const now = timeline.clock.now();
    return (await storeEntries(session, { kinds: LISTED_KINDS, requests, now }))[0]?.id ?? null;
  } catch (error) {
    if (!(error instanceof UsageError && error.code === 'outbox.double')) throw error;
    say(`+ refused: ${error.message}`);
    return null;
  }
}

/** A brand that we made and that has another name by now is no more to be known again than if it were gone. */
function isRecognizable({ sends }: Stage, { name }: Service, id: string): boolean {
  return (
    name !== 'vehicle_brands' ||
    !sends.some(
      ({ kind, operation, committed }) => kind === name && operation === 'create' && committed?.id === id,
    )
  );
}

/** Has all kinds swept, or some. */
export async function askForSweep({ session, timeline, kinds, wakeUp }: Stage): Promise<void> {
  for (const { name } of kinds) {
    const wish = { kinds: [name], request: 'simulation', now: timeline.clock.now() };
    await session.atomically((tx) => requestPull(tx, wish));
  }
  wakeUp.wake();
}

/** Something that a person does to the service's records; never beyond recognition of what we may have made. */
export function actAsPerson({ random, services, sends, schedule }: Stage, number: number): void {
  const service = random.pick(services);
  const { name, world, normalizer } = service;
  const ours = new Set(
    sends.flatMap(({ kind, operation, committed }) =>
      kind === name && operation === 'create' && committed ? [committed.id] : [],
    ),
  );
  const unique = `${schedule.seed}-${90 + number}`;
  if (random.chance(0.3)) {
    enter(service, SHAPES[name].create(unique, random));
    return;
  }
  const ids = world.ids().filter((id) => !ours.has(id) || name !== 'vehicle_brands');
  if (ids.length === 0) return;
  const id = random.pick(ids);
  if (random.chance(0.3)) {
    if (!ours.has(id)) world.remove(id, 'person');
    return;
  }
  const [field, value] = random.pick(Object.entries(SHAPES[name].editable));
  world.edit(id, storedFields(world.kind, { [field]: value(unique, random) }, normalizer), 'person');
}

export function objectOf(text: string | null): JsonObject | null {
  const value = text === null ? null : parseJson(text);
  return isObject(value) ? value : null;
}
