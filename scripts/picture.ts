/** Takes the picture of README: the dashboard of a simulated company after two days of work. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { pull } from '../src/app/pull.ts';
import { changeOne } from '../src/cli/demo/go-on.ts';
import type { Config } from '../src/config/settings.ts';
import { instantText, systemClock } from '../src/lib/time/clock.ts';
import { createLogger } from '../src/lib/log/logger.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { eventually, openStage } from '../test/browser/stage.ts';

const PICTURE = join(import.meta.dirname, '../docs/dashboard.png');
const ROUNDS = 60;
const HOURS = 46;
const HOUR_MS = 3_600_000;
const KINDS = ['clients', 'products', 'bookings', 'punches', 'projects'];

const NOTES = [
  'call back on Monday',
  'parts have arrived',
  'paid in cash',
  'second visit',
  'with the insurance',
];

const logger = createLogger({ level: 'silent', secrets: [], destination: { write: () => undefined } });

async function read(config: Config, kinds: readonly string[]): Promise<void> {
  const signal = new AbortController().signal;
  await pull(config, { kinds, acceptNewSource: false, logger, signal, onProgress: () => undefined });
}

/** Two days of work: more at some hours than at others. */
async function work({ world }: Sandbox, config: Config): Promise<void> {
  await read(config, []);
  for (let round = 1; round <= ROUNDS; round++) {
    const of = (texts: readonly string[], at: number): string => texts[at % texts.length] ?? '';
    const busy = 1 + Math.round(4 * Math.abs(Math.sin(round / 5)));
    for (let step = 0; step < busy; step++) changeOne(world, round * 7 + step);
    const ids = (kind: string): number => world.ids(kind)[(round * 3) % world.ids(kind).length] ?? 0;
    world.update('punches', ids('punches'), { note: of(NOTES, round) });
    if (round % 3 === 0) world.update('projects', ids('projects'), { note: of(NOTES, round) });
    if (round % 2 === 0) world.update('bookings', ids('bookings'), { note: of(NOTES, round) });
    await read(config, KINDS);
  }
  await spread(config);
}

/** Spreads what took a minute over two days, in its order. */
async function spread({ database }: Config): Promise<void> {
  await using session = await openSession(database.url);
  const now = systemClock.now().getTime();
  const waves = 2 * Math.PI * 4; // Busier hours and calmer ones.
  const at = (share: number): string => {
    const placed = share - (0.9 / waves) * Math.sin(waves * share);
    return instantText(new Date(now - (1 - placed) * HOURS * HOUR_MS));
  };
  const rows = await session.query(sql`select seq from changes order by seq`);
  await session.atomically(async (tx) => {
    for (const [index, { seq }] of rows.entries())
      await tx.query(
        sql`update changes set observed_at = ${at(index / rows.length)}, observed_from = null where seq = ${seq ?? 0}`,
      );
    await tx.query(sql`update runs set started_at = requested_at`);
  });
}

const stage = await openStage({ size: 300, before: work });
try {
  const { sandbox, api } = stage;
  for (const id of sandbox.world.ids('providers').slice(0, 7)) sandbox.world.remove('providers', id);
  await stage.pull('providers');
  await stage.pull('providers');
  sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'before' } }]);
  const data = { code: 'C-4711', name: 'Carrosserie du Fleuve' };
  const { id } = await api('/v1/outbox', { operation: 'create', kind: 'clients', data }, 'order-4711');
  await eventually(() => Promise.resolve(sandbox.requests.some(({ method }) => method === 'POST')));
  sandbox.world.insert('clients', { ...data, name: 'Carrosserie du Fleuve inc.' });
  await eventually(async () => (await api(`/v1/outbox/${String(id)}`))['state'] === 'parked');
  const page = await stage.signedIn({ viewport: { width: 1280, height: 900 } });
  await page.locator('#live', { hasText: 'Live' }).waitFor();
  await page.evaluate(`document.querySelector('.title p').textContent = 'Mirror: ./data/mirror.db'`);
  const picture = await page.screenshot();
  writeFileSync(PICTURE, picture);
  process.stdout.write(`${PICTURE}: ${Math.round(picture.length / 1000)} kB\n`);
} finally {
  await stage.close();
}
