/**
 * Measures in real time how old changes are when they are seen: by sweeps alone, and by half as many sweeps with the rest of
 * their requests spent between them. Two `serve` mirror equal sandboxes in which the same things happen; the record of
 * rank k is updated 1/k as often as the first. Prints what goes into docs/figures.md. Needs `npm run build`.
 * `-- --minutes 10 --size 2500` are the usual ones.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../src/catalog/kinds/catalog.ts';
import { parseInstant } from '../src/lib/time/clock.ts';
import { openSqliteSession } from '../src/db/sqlite/session.ts';
import { randomFrom } from '../sandbox/generate/draw.ts';
import { startSandbox, type Sandbox } from '../sandbox/sandbox.ts';

const ROOT = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    size: { type: 'string', default: '2500' },
    seed: { type: 'string', default: 'a' },
  },
});
const minutes = Number(options.minutes);
const random = randomFrom('replay', options.seed);
const MINUTE_MS = 60_000;
const UPDATES_A_SECOND = 2;
const CREATES_A_MINUTE = 12;

interface Side {
  readonly name: string;
  readonly service: Sandbox;
  readonly path: string;
  readonly env: Record<string, string>;
}

/** Something that happened in both services. */
interface Happening {
  readonly kind: string;
  readonly id: number;
  readonly change: 'created' | 'updated';
  readonly atMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'freshness-'));

async function openSide(name: string, cron: string, perMinute: number | null): Promise<Side> {
  const service = await startSandbox({ size: Number(options.size) });
  const path = join(folder, `${name}.db`);
  const env = {
    BMS_BASE_URL: service.url,
    BMS_TOKEN: service.token,
    DATABASE_URL: `file:${path}`,
    PORT: name === 'sweeps' ? '18431' : '18432',
    LOG_LEVEL: 'warn',
    BMS__SCHEDULES__ALL: cron,
    BMS__FRESHNESS__REQUESTS_PER_MINUTE: perMinute === 0 ? 'null' : String(perMinute),
  };
  return { name, service, path, env };
}

function run(side: Side, ...words: readonly string[]): { stop: () => void; ended: Promise<unknown> } {
  const child = spawn(process.execPath, [join(ROOT, 'dist/main.js'), ...words], {
    env: { PATH: process.env['PATH'], HOME: folder, ...side.env },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    stop: () => {
      child.kill('SIGTERM');
    },
    ended,
  };
}

/** The requests of one sweep of all kinds. */
async function sweepRequests(side: Side): Promise<number> {
  await run(side, 'pull').ended;
  const before = side.service.requests.length;
  await run(side, 'pull').ended;
  return side.service.requests.length - before;
}

/** Lets things happen in both services until the time is over: the record of rank k changes 1/k as often as the first. */
async function happen(sides: readonly Side[]): Promise<Happening[]> {
  const [{ service: { world } } = raise()] = sides;
  const kinds = LISTED_KINDS.filter(({ name }) => Object.keys(otherValue(name, 0)).length > 0);
  const all = kinds.flatMap(({ name }) => world.ids(name).map((id) => ({ kind: name, id })));
  const ranks = all
    .map((record) => ({ record, at: random.integer(0, 1e9) }))
    .sort((a, b) => a.at - b.at)
    .map(({ record }) => record);
  const happened: Happening[] = [];
  const endMs = Date.now() + minutes * MINUTE_MS;
  for (let step = 0; Date.now() < endMs; step++) {
    const rank = Math.floor(Math.exp((random.integer(0, 999_999) / 1e6) * Math.log(ranks.length)));
    const updated = ranks[rank - 1] ?? raise();
    for (const { service } of sides)
      service.world.update(updated.kind, updated.id, otherValue(updated.kind, step));
    happened.push({ ...updated, change: 'updated', atMs: Date.now() });
    if (step % ((60 * UPDATES_A_SECOND) / CREATES_A_MINUTE) === 0) {
      const { kind } = ranks[random.integer(0, ranks.length - 1)] ?? raise();
      const made = sides.map(({ service }) =>
        Number(service.world.insert(kind, otherValue(kind, step))['id']),
      );
      happened.push({ kind, id: made[0] ?? raise(), change: 'created', atMs: Date.now() });
    }
    await pause(1000 / UPDATES_A_SECOND);
  }
  return happened;
}

/** A field of a kind that may change, with a value that it did not have. */
function otherValue(kind: string, step: number): Record<string, string> {
  const declared = LISTED_KINDS.find(({ name }) => name === kind) ?? raise();
  const free = declared.fields.filter(({ name }) => !declared.naturalKey.includes(name));
  const text = free.find(({ type }) => type === 'text');
  if (text !== undefined) return { [text.name]: `changed ${step}` };
  const amount = free.find(({ type }) => type === 'decimal');
  return amount === undefined ? {} : { [amount.name]: `${step}.00` };
}

function raise(): never {
  throw new Error('the sandbox lacks what the measurement needs');
}

/** How old the things were that happened, when the mirror saw them; the first fifth of the time is for learning. */
async function agesOf(
  { path }: Side,
  happened: readonly Happening[],
): Promise<Record<Happening['change'], number[]>> {
  await using session = openSqliteSession(path);
  const rows = await session.query(
    sql`select kind, record_id, change, observed_at from changes order by seq`,
  );
  const seen = rows.map((row) => ({
    key: `${String(row['kind'])} ${String(row['record_id'])} ${String(row['change'])}`,
    atMs: parseInstant(String(row['observed_at'])).getTime(),
  }));
  const fromMs = (happened[0]?.atMs ?? 0) + (minutes * MINUTE_MS) / 5;
  const ages = { created: [] as number[], updated: [] as number[] };
  for (const { kind, id, change, atMs } of happened) {
    const next = seen.find((one) => one.atMs >= atMs && one.key === `${kind} ${id} ${change}`);
    if (atMs >= fromMs && next !== undefined) ages[change].push(next.atMs - atMs);
  }
  return ages;
}

const p95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(0.95 * values.length)] ?? NaN;
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const alone = await openSide('sweeps', '* * * * *', null);
const pages = await sweepRequests(alone);
const between = await openSide('between', '*/2 * * * *', Math.round(pages / 2));
const sides = [alone, between];
await run(between, 'pull').ended;
await run(between, 'pull').ended;
const serving = sides.map((side) => run(side, 'serve'));
await pause(3000);
const before = sides.map(({ service }) => service.requests.length);
const happened = await happen(sides);
const made = sides.map(({ service }, index) => service.requests.length - (before[index] ?? 0));
await pause(2.2 * MINUTE_MS); // Two more sweeps see what is left.
for (const { stop } of serving) stop();
await Promise.all(serving.map(({ ended }) => ended));
const measured = await Promise.all(sides.map((side) => agesOf(side, happened)));
for (const { service } of sides) await service.close();
rmSync(folder, { recursive: true });
const [sweeps = raise(), reading = raise()] = measured;
console.log(`${minutes} minutes, ${pages} pages, ${happened.length} changes; requests ${made.join(' and ')}`);
console.log(
  `new records p95: ${seconds(p95(sweeps.created))} by sweeps, ${seconds(p95(reading.created))} with readings (${(p95(reading.created) / p95(sweeps.created)).toFixed(2)} ×)`,
);
console.log(
  `updates on average: ${seconds(mean(sweeps.updated))} by sweeps, ${seconds(mean(reading.updated))} with readings (${(mean(reading.updated) / mean(sweeps.updated)).toFixed(2)} ×)`,
);
