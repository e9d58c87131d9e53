import { sql } from 'drizzle-orm';
import { compactJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import { randomFrom } from '../../sandbox/generate/draw.ts';
import { SyncError, UsageError } from '../../src/lib/sync-error.ts';
import { insertEntry } from '../store/outbox/entries.ts';
import { mirrorInstant } from '../../src/store/kinds/mirror-clock.ts';
import { insertPlan, readPlanRows } from '../../src/features/plans/store.ts';
import { requestPull } from '../../src/store/runs/run-requests.ts';
import { readNameOf } from '../../src/diff/merge-update.ts';
import { checkRequests, storeChecked } from '../../src/outbound/intake/intake.ts';
import { applyPlan } from '../../src/features/plans/work/apply-plan.ts';
import { bodiesOf, inOtherSpelling } from './bodies.ts';
import { enter } from './others.ts';
import { isOurs, type Content } from './records.ts';
import type { Intent, Stage } from './stage.ts';

const MINUTE = 60_000;

/** The share of creates with an equal earlier one: made long ago, or pushed just now. */
const REPEATED = 0.12;

type Wish = Omit<Intent, 'entry' | 'atMs' | 'born'>;

/** An application wants a record made; another person may make an equal one. */
export async function pushCreate(stage: Stage, number: number): Promise<void> {
  const { random, timeline, kinds, personality } = stage;
  const kind = random.pick(kinds);
  const body = bodiesOf(kind).create(number, random);
  if (personality.equals === 'some' && random.chance(0.6))
    timeline.after(random.integer(0, 40 * MINUTE), () => {
      if (!stage.isCalm) enter(stage, kind, random.chance(0.5) ? body : lookAlike(body));
    });
  if (personality.ids === 'reused' && random.chance(0.5)) makeRoom(stage, kind.name);
  const wish = { kind: kind.name, operation: 'create', recordId: null } as const;
  const repeats = randomFrom('repeats', stage.seed, number);
  const precedents = stage.precedents.get(kind.name) ?? [];
  const other = personality.keys === 'as written' ? null : inOtherSpelling(kind, body, random);
  if (other !== null)
    await storeTwice(
      stage,
      [
        { ...wish, body },
        { ...wish, body: other, isAgain: true },
      ],
      number,
    );
  else if (!repeats.chance(REPEATED)) await store(stage, { ...wish, body }, number);
  else if (precedents.length > 0 && repeats.chance(0.5))
    await pushAgain(stage, { ...wish, body: repeats.pick(precedents) }, number);
  else {
    await store(stage, { ...wish, body }, number);
    await pushAgain(stage, { ...wish, body }, 1_000 + number);
  }
}

/** Two people ask for one record, at once or some time apart. */
async function storeTwice(stage: Stage, wishes: readonly Wish[], number: number): Promise<void> {
  const { random, timeline } = stage;
  const isLater = random.chance(0.5);
  for (const [at, wish] of wishes.entries()) {
    await store(stage, wish, at * 2_000 + number);
    if (isLater) await timeline.clock.sleep(random.integer(1, 20) * MINUTE);
  }
}

/** A record that another person makes, and that could be the service's version of our record. */
function lookAlike(body: Content): Content {
  const [name = '', value] = Object.entries(body).find(([, one]) => typeof one === 'string') ?? [];
  return /^\d{4}-/.test(String(value))
    ? { ...body, end_time: '23:59' }
    : { ...body, [name]: `${String(value)}-bis` };
}

/** Another person deletes the newest record, whose id the next one gets. */
function makeRoom({ service, timeline, isCalm }: Stage, kind: string): void {
  service.advance(timeline.nowMs());
  const records = service.records.get(kind);
  const last = records
    ?.at(timeline.nowMs())
    .toSorted((a, b) => Number(a.id) - Number(b.id))
    .at(-1);
  if (records === undefined || last === undefined || isCalm || isOurs(records, last.id)) return;
  records.remove(last.id, timeline.nowMs());
}

/** An application changes some record that the mirror knows; another person may change the same fields. */
export async function pushUpdate(stage: Stage, number: number): Promise<void> {
  const { random, timeline, kinds, service, session, personality } = stage;
  const kind = random.pick(kinds);
  const known = await session.query(sql`
    select cast(id as text) as id from ${sql.identifier(kind.name)} where _deleted_at is null order by id`);
  const isOutOfReach = (id: string): boolean =>
    personality.unlisted !== 'none' && service.apart(kind.name).has(id);
  const rows = known.filter(({ id }) => !isOutOfReach(String(id)));
  if (rows.length === 0) return;
  const recordId = String(random.pick(rows)['id']);
  const body = bodiesOf(kind).edit(number, random);
  if (random.chance(0.3))
    timeline.after(random.integer(0, 2 * MINUTE), () => {
      const other = bodiesOf(kind).edit(number + 7, random);
      service.advance(timeline.nowMs());
      if (!stage.isCalm)
        service.records.get(kind.name)?.edit(recordId, other, { atMs: timeline.nowMs(), actor: 'other' });
    });
  await store(stage, { kind: kind.name, operation: 'update', body, recordId }, number);
}

type UpdateOf = Pick<Wish, 'kind' | 'body'> & { readonly recordId: string };

/** An application changes this record. */
export async function pushTo(stage: Stage, update: UpdateOf, number: number): Promise<void> {
  await store(stage, { ...update, operation: 'update' }, number);
}

/** Somebody applies a plan that changes this record. */
export async function pushPlan(stage: Stage, update: UpdateOf): Promise<void> {
  const { session, timeline, kinds, plans } = stage;
  const { kind: name, recordId, body } = update;
  const kind = kinds.find((one) => one.name === name);
  const now = timeline.clock.now();
  const by = 'world';
  const [row] = await session.query(sql`
    select _raw as raw from ${sql.identifier(name)} where cast(id as text) = ${recordId} and _deleted_at is null`);
  if (row === undefined || kind === undefined) return;
  const raw = JSON.parse(String(row['raw'])) as Content;
  const cells = Object.entries(body).map(([written, value]) => {
    const field = readNameOf(kind, written);
    return { field, old: raw[field] ?? null, new: value };
  });
  const planned = { position: 1, operation: 'update', recordId, refusal: null } as const;
  const rows = [{ ...planned, cells: compactJson(cells as unknown as Json) }];
  const plan = { kind: name, origin: 'world', createdBy: by };
  const id = await session.atomically(async (tx) =>
    insertPlan(tx, { ...plan, createdAt: await mirrorInstant(tx, now) }, rows),
  );
  try {
    await applyPlan(session, { kinds, id, by, now, approvals: 0 });
  } catch (error) {
    if (error instanceof SyncError && error.code === 'plan.stale') return;
    throw error;
  }
  const [followed] = await readPlanRows(session, id);
  plans.push(id);
  note(stage, { ...update, operation: 'update' }, followed?.entryId ?? null);
}

/** Pushes a create though there is an equal one, on purpose. */
async function pushAgain(stage: Stage, wish: Wish, number: number): Promise<void> {
  note(stage, wish, await push(stage, wish, { number, allowDouble: true }));
}

/** As `push` does it, or as an application does by SQL. */
async function store(stage: Stage, wish: Wish, number: number): Promise<void> {
  const isBySql = stage.random.chance(0.3);
  const entry = await (isBySql ? insert(stage, wish, number) : push(stage, wish, { number }));
  note(stage, wish, entry);
}

function note(
  { timeline, service, intents, logLine, wakeUp }: Stage,
  wish: Wish,
  entry: number | null,
): void {
  if (entry === null) return;
  const atMs = timeline.nowMs();
  const row = service.records.get(wish.kind)?.find(wish.recordId ?? '', atMs);
  intents.push({ ...wish, entry, atMs, born: row?.born ?? null });
  logLine(
    `+ entry ${entry}: ${wish.operation} ${wish.kind} ${wish.recordId ?? ''} ${JSON.stringify(wish.body)}`,
  );
  wakeUp.wake();
}

function insert(
  { session, timeline }: Stage,
  { kind, operation, recordId, body }: Wish,
  number: number,
): Promise<number | null> {
  const payload = compactJson(body as JsonObject);
  const row = { key: `key-${number}`, kind, operation, recordId, payload, base: null, naturalKey: null };
  return session.atomically((tx) => insertEntry(tx, { ...row, now: timeline.clock.now() }));
}

/** Null where the gate refuses it, and the application leaves it at that. */
async function push(
  { session, timeline, kinds, logLine }: Stage,
  wish: Wish,
  { number, allowDouble = false }: { readonly number: number; readonly allowDouble?: boolean },
): Promise<number | null> {
  const { kind, operation, recordId, body } = wish;
  const request = { operation, kind, data: body as JsonObject, key: `key-${number}`, allowDouble };
  const requests = [{ ...request, ...(recordId !== null && { id: recordId }) }];
  try {
    const [stored] = await storeChecked(
      session,
      await checkRequests(session, kinds, requests),
      timeline.clock.now(),
    );
    return stored?.id ?? null;
  } catch (error) {
    if (!(error instanceof UsageError && error.code === 'outbox.double')) throw error;
    logLine(`+ refused: ${error.message}`);
    return null;
  }
}

/** Has all kinds swept. */
export async function askForSweep({ session, timeline, kinds, wakeUp }: Stage): Promise<void> {
  for (const { name } of kinds) {
    const wish = { kinds: [name], request: 'world', now: timeline.clock.now() };
    await session.atomically((tx) => requestPull(tx, wish));
  }
  wakeUp.wake();
}
