/** Takes pictures of every page, wide and on a phone: the dashboard of a simulated company after two days of work. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { pullOnce } from '../src/app/pull.ts';
import { changeOne } from '../src/cli/demo/keep-changing.ts';
import { compactJson } from '../src/lib/json/json.ts';
import { insertPlan } from '../src/features/plans/store.ts';
import type { Config } from '../src/config/settings.ts';
import { parseInstant, formatInstant, systemClock } from '../src/lib/time/clock.ts';
import { createLogger } from '../src/lib/log/logger.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { eventually, openStage, type BrowserStage } from '../test/browser/stage.ts';
import { palettePng } from './palette-png.ts';

const FOLDER = join(import.meta.dirname, '../docs/pictures');
const WIDTHS = [1280, 390];
/** What is below repeats what is above. */
const TALLEST: Readonly<Record<number, number>> = { 1280: 1350, 390: 1900 };
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
  await pullOnce(config, { kinds, acceptNewSource: false, logger, signal, onProgress: () => undefined });
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
  await correct(world, config);
}

/** A plan of corrections, with a row that is refused. */
async function correct(world: Sandbox['world'], { database }: Config): Promise<void> {
  const cities = ['Rimouski', 'Gaspé', 'Trois-Rivières', 'Gatineau'];
  const rows = world
    .ids('clients')
    .slice(20, 20 + cities.length)
    .map((id, index) => {
      const cells = compactJson([
        { field: 'city', old: world.get('clients', id)?.['city'] ?? null, new: cities[index] ?? '' },
      ]);
      return {
        position: index + 2,
        operation: 'update',
        recordId: String(id),
        cells,
        refusal: null,
      } as const;
    });
  const refusal = 'code: it has lost its zeros: it was 004711';
  const refused = {
    position: 6,
    operation: 'update',
    recordId: String(world.ids('clients')[30] ?? 0),
    cells: '[]',
    refusal,
  } as const;
  await using session = await openSession(database.url);
  const plan = {
    kind: 'clients',
    origin: 'clients.xlsx',
    createdBy: 'Ada',
    createdAt: formatInstant(systemClock.now()),
  };
  await session.atomically((tx) => insertPlan(tx, plan, [...rows, refused]));
}

/** Spreads what took a minute over two days, in its order. */
async function spread({ database }: Config): Promise<void> {
  await using session = await openSession(database.url);
  const now = systemClock.now().getTime();
  const waves = 2 * Math.PI * 4; // Busier hours and calmer ones.
  const at = (share: number): string => {
    const placed = share - (0.9 / waves) * Math.sin(waves * share);
    return formatInstant(new Date(now - (1 - placed) * HOURS * HOUR_MS));
  };
  const rows = await session.query(sql`select seq from changes order by seq`);
  await session.atomically(async (tx) => {
    for (const [index, { seq }] of rows.entries())
      await tx.query(
        sql`update changes set observed_at = ${at(index / rows.length)}, observed_from = null where seq = ${seq ?? 0}`,
      );
    const runs = await tx.query(sql`select id from runs order by id`);
    for (const [index, { id }] of runs.entries()) {
      const began = at(index / runs.length);
      const ended = formatInstant(new Date(parseInstant(began).getTime() + 1_400 + (index % 7) * 100));
      await tx.query(
        sql`update runs set requested_at = ${began}, started_at = ${began}, finished_at = ${ended} where id = ${id ?? 0}`,
      );
      await tx.query(sql`update run_kinds set started_at = ${began} where run_id = ${id ?? 0}`);
    }
  });
}

interface Shown {
  readonly name: string;
  readonly path: string;
  /** Its whole length is shown. */
  readonly isWhole?: true;
  /** What is done on the page first. */
  readonly act?: (page: Page) => Promise<void>;
}

/** The pixels of a picture as its base64 text; a browser unpacks it. */
const UNPACK = `async (png) => {
  const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const drawing = canvas.getContext('2d');
  drawing.drawImage(bitmap, 0, 0);
  const { data } = drawing.getImageData(0, 0, bitmap.width, bitmap.height);
  return { width: bitmap.width, height: bitmap.height, pixels: new Uint8Array(data.buffer).toBase64() };
}`;

const stage = await openStage({ size: 300, before: work, timezone: 'America/Toronto' });
try {
  const pages = await makeHistory(stage);
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  for (const width of WIDTHS) {
    const page = await stage.signedIn({ viewport: { width, height: 900 }, isMobile: width < 600 });
    await picture(await (await stage.open({ viewport: { width, height: 900 } })).newPage(), width, {
      name: 'sign-in',
      path: '/login',
    });
    for (const shown of pages) await picture(page, width, shown);
  }
} finally {
  await stage.close();
}

/** Things that need a person, and records of every sort. */
async function makeHistory({ sandbox, api, pull }: BrowserStage): Promise<readonly Shown[]> {
  const { world } = sandbox;
  // The service itself has no such address: it answers 404.
  await api('/v1/webhooks', { name: 'shop', url: `${sandbox.url}/orders`, kinds: ['products'] });
  world.update('products', world.ids('products')[3] ?? 0, { name_fr: 'Pneu d’hiver' });
  await pull('products');
  for (const id of world.ids('providers').slice(0, 14)) world.remove('providers', id);
  await pull('providers');
  await pull('providers');
  world.update('clients', world.ids('clients')[5] ?? 0, {
    email: 'by phone only',
    active: 'maybe',
    credit: 'x',
  });
  await pull('clients');
  sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'before' } }]);
  const data = { code: 'C-4711', name: 'Carrosserie du Fleuve' };
  const { id } = await api('/v1/outbox', { operation: 'create', kind: 'clients', data }, 'order-4711');
  await eventually(() => Promise.resolve(sandbox.requests.some(({ method }) => method === 'POST')));
  world.insert('clients', { ...data, name: 'Carrosserie du Fleuve inc.' });
  await eventually(async () => (await api(`/v1/outbox/${String(id)}`))['state'] === 'parked');
  const other = { code: 'C-4712', name: 'Pneus Sept-Îles' };
  const { id: made } = await api(
    '/v1/outbox',
    { operation: 'create', kind: 'clients', data: other },
    'order-4712',
  );
  await eventually(async () => (await api(`/v1/outbox/${String(made)}`))['state'] === 'done');
  const whole = (kind: string, field: string): number =>
    world.ids(kind).find((one) => {
      const items = world.get(kind, one)?.[field];
      return Array.isArray(items) && items.length > 1;
    }) ?? 0;
  const { runId } = await api('/v1/pulls', { kinds: [] });
  await eventually(async () => (await api(`/v1/runs/${String(runId)}`))['finishedAt'] !== null);
  return [
    { name: 'overview', path: '/', act: (page) => page.locator('#live', { hasText: 'Live' }).waitFor() },
    { name: 'kinds', path: '/kinds' },
    { name: 'kind', path: '/kinds/clients', act: (page) => page.locator('#plot-rows canvas').waitFor() },
    { name: 'records', path: '/records/clients' },
    { name: 'find', path: '/find?q=tremblay' },
    { name: 'client', path: `/records/clients/${whole('clients', 'contacts')}`, isWhole: true },
    { name: 'product', path: `/records/products/${whole('products', 'variantes')}`, isWhole: true },
    { name: 'project', path: `/records/projects/${whole('projects', 'tasks')}`, isWhole: true },
    { name: 'changes', path: '/changes' },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: `/runs/${String(runId)}` },
    { name: 'outbox', path: '/outbox' },
    { name: 'entry', path: `/outbox/${String(id)}` },
    { name: 'plan', path: '/plans/1' },
    { name: 'deletions', path: '/deletions' },
    { name: 'question', path: '/deletions', act: (page) => page.getByText('Approve…').click() },
    { name: 'issues', path: '/issues' },
    { name: 'webhooks', path: '/webhooks' },
    { name: 'decisions', path: '/decisions' },
    { name: 'users', path: '/users' },
    { name: 'exports', path: '/exports' },
    { name: 'report', path: '/reports/hours-by-technician-and-week' },
    { name: 'not-here', path: '/runs/4711' },
    { name: 'french', path: '/', act: speakFrench }, // The last: the window goes on in French.
  ];
}

async function speakFrench(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Français' }).click();
  await page.locator('#live', { hasText: 'En direct' }).waitFor();
}

async function picture(page: Page, width: number, { name, path, isWhole, act }: Shown): Promise<void> {
  await page.goto(stage.dashboard.address + path);
  await act?.(page);
  await page.evaluate(`for (const line of document.querySelectorAll('.title p'))
    for (const place of line.querySelectorAll('[translate=no]'))
      if (place.textContent.endsWith('.db')) place.textContent = './data/mirror.db'`);
  const tallest = isWhole === true ? Infinity : (TALLEST[width] ?? 0);
  const height = Math.min(tallest, await page.evaluate<number>('document.documentElement.scrollHeight'));
  const whole = { fullPage: true, clip: { x: 0, y: 0, width, height } };
  const png = (await page.screenshot(whole)).toString('base64');
  const blank = await (await stage.open()).newPage();
  const drawn = await blank.evaluate<{ width: number; height: number; pixels: string }>(
    `(${UNPACK})(${JSON.stringify(png)})`,
  );
  await blank.context().close();
  const small = palettePng(Buffer.from(drawn.pixels, 'base64'), drawn.width, drawn.height);
  const file = join(FOLDER, `${name}-${width}.png`);
  writeFileSync(file, small);
  process.stdout.write(`${file}: ${Math.round(small.length / 1000)} kB\n`);
}
