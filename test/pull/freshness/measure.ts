/**
 * How old changes are when they are seen, in simulated time and through the real parts: by sweeps alone, and by fewer sweeps with
 * the rest of their requests spent between them. The same happens in both services: the record of rank k is updated 1/k as
 * often as the first. New codes fall anywhere in the lists that are sorted by them.
 */
import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { parseInstant } from '../../../src/lib/time/clock.ts';
import { createLogger } from '../../../src/lib/log/logger.ts';
import { THIS_PROCESS } from '../../../src/lib/owner.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { createFreshnessTask } from '../../../src/pull/freshness/keep-fresh.ts';
import { pullKinds } from '../../../src/pull/sweep/pull-kinds.ts';
import { openSource } from '../../../src/source/source.ts';
import { randomFrom } from '../../../sandbox/generate/draw.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { KEEP_ALL } from '../../support/retention.ts';
import { SOURCE_SETTINGS } from '../../support/source-settings.ts';

export interface Plan {
  readonly size: number;
  readonly seed: string;
  readonly minutes: number;
  readonly sweepMinutes: number;
  /** Requests in a minute between sweeps; null = sweeps alone. */
  readonly perMinute: number | null;
}

/** How old changes were when they were seen, in milliseconds; the first fifth of the time does not count. */
export interface Measured {
  readonly created: readonly number[];
  /** Those of `created` in lists that are sorted by code. */
  readonly createdByCode: readonly number[];
  readonly updated: readonly number[];
  readonly requests: number;
}

interface Happening {
  readonly kind: string;
  readonly id: number;
  readonly change: 'created' | 'updated';
  readonly atMs: number;
}

const MINUTE_MS = 60_000;
const PAGE_SIZE = 40;
const STEP_MS = 500; // An update in each.
const CREATE_EVERY = 10; // Steps.
const REMOVE_EVERY = 40;

const RULES = {
  deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } },
  repeatBelowPages: 20,
  ignoreFields: {},
  retention: KEEP_ALL,
} as const;
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

/** @param session An empty mirror. */
export async function measure(session: Session, plan: Plan): Promise<Measured> {
  await using service = await startSandbox({ size: plan.size });
  const clock = fakeClock();
  const { url: baseUrl, token } = service;
  await using source = openSource(
    { ...SOURCE_SETTINGS, baseUrl, token, pageSize: PAGE_SIZE },
    { clock, logger },
  );
  const parts = { session, source, clock, logger, owner: THIS_PROCESS };
  const sweep = () => pullKinds(parts, { kinds: LISTED_KINDS, baseUrl, acceptNewSource: false, ...RULES });
  await sweep();
  await sweep();
  const requestsPerMinute = plan.perMinute ?? 0;
  const read = createFreshnessTask(parts, { kinds: LISTED_KINDS, requestsPerMinute, baseUrl, rules: RULES });
  const act = actsOn(service, plan.seed);
  const happened: Happening[] = [];
  const before = service.requests.length;
  const startMs = clock.now().getTime();
  const steps = (plan.minutes * MINUTE_MS) / STEP_MS;
  for (let step = 0; step < steps; step++) {
    const atMs = clock.now().getTime();
    happened.push(...act(step).map((one) => ({ ...one, atMs })));
    await clock.sleep(STEP_MS);
    if (((step + 1) * STEP_MS) % (plan.sweepMinutes * MINUTE_MS) === 0) await sweep();
    else if (requestsPerMinute > 0) await read();
  }
  const requests = service.requests.length - before;
  await sweep();
  const counted = happened.filter(({ atMs }) => atMs >= startMs + (plan.minutes * MINUTE_MS) / 5);
  return { ...(await agesOf(session, counted)), requests };
}

const BY_CODE = new Set(LISTED_KINDS.flatMap(({ name, list }) => (list.order === 'code' ? [name] : [])));

/** Gives what happens in a step: a record is updated, or now and then one is created. */
function actsOn({ world }: Sandbox, seed: string) {
  const random = randomFrom('freshness', seed);
  const kinds = LISTED_KINDS.filter(({ name }) => Object.keys(otherValue(name, 0)).length > 0);
  const ranks = kinds
    .flatMap(({ name: kind }) => world.ids(kind).map((id) => ({ kind, id, at: random.integer(0, 1e9) })))
    .sort((a, b) => a.at - b.at);
  return (step: number): Omit<Happening, 'atMs'>[] => {
    const rank = Math.floor(Math.exp((random.integer(0, 999_999) / 1e6) * Math.log(ranks.length)));
    const updated = ranks[rank - 1];
    const like = ranks[random.integer(0, ranks.length - 1)];
    const code = `${String.fromCodePoint(random.integer(65, 90))}${random.digits(6)}`;
    if (updated === undefined || like === undefined) throw new Error('the sandbox has no records');
    world.update(updated.kind, updated.id, otherValue(updated.kind, step));
    const acts: Omit<Happening, 'atMs'>[] = [{ kind: updated.kind, id: updated.id, change: 'updated' }];
    if (step % CREATE_EVERY > 0) return acts;
    const own = BY_CODE.has(like.kind) ? { code } : {};
    const gone = ranks[random.integer(0, ranks.length - 1)];
    if (step % REMOVE_EVERY === 0 && gone !== undefined && gone.id !== updated.id) {
      world.remove(gone.kind, gone.id);
      ranks.splice(ranks.indexOf(gone), 1);
    }
    const made = world.insert(like.kind, { ...otherValue(like.kind, step), ...own });
    return [...acts, { kind: like.kind, id: Number(made['id']), change: 'created' }];
  };
}

/** A field of a kind that may change, with a value that it did not have. */
function otherValue(kind: string, step: number): Record<string, string> {
  const declared = LISTED_KINDS.find(({ name }) => name === kind);
  const free = declared?.fields.filter(({ name }) => !declared.naturalKey.includes(name)) ?? [];
  const text = free.find(({ type }) => type === 'text');
  if (text !== undefined) return { [text.name]: `changed ${step}` };
  const amount = free.find(({ type }) => type === 'decimal');
  return amount === undefined ? {} : { [amount.name]: `${step}.00` };
}

async function agesOf(session: Session, happened: readonly Happening[]) {
  const rows = await session.query(
    sql`select kind, record_id, change, observed_at from changes order by seq`,
  );
  const seen = new Map<string, number[]>();
  for (const row of rows) {
    const key = `${String(row['kind'])} ${String(row['record_id'])} ${String(row['change'])}`;
    const atMs = parseInstant(String(row['observed_at'])).getTime();
    seen.set(key, [...(seen.get(key) ?? []), atMs]);
  }
  const ages = { created: [] as number[], createdByCode: [] as number[], updated: [] as number[] };
  for (const { kind, id, change, atMs } of happened) {
    const seenMs = seen.get(`${kind} ${id} ${change}`)?.find((ms) => ms >= atMs);
    if (seenMs === undefined) continue;
    ages[change].push(seenMs - atMs);
    if (change === 'created' && BY_CODE.has(kind)) ages.createdByCode.push(seenMs - atMs);
  }
  return ages;
}

export const p95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(0.95 * values.length)] ?? NaN;
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
