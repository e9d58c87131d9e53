import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/settings.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Io } from '../parts/io.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import { changes } from '../../app/commands/changes.ts';
import type { RecordedChange } from '../../app/commands/changes.ts';
import { pull } from '../../app/pull.ts';
import { compactJson, isObject, parseJson } from '../../lib/json/json.ts';
import { fieldsShown } from '../parts/change-row.ts';

export const DEMO_DATABASE = './data/demo.db';

/** The parts of a demo: a simulated service, the settings of a mirror of it, and the terminal. */
export interface DemoStage {
  readonly sandbox: Sandbox;
  readonly config: Config;
  readonly logger: Logger;
  readonly io: Io;
  /** Prints one line, or the lines of a table; nothing where `--json` was asked for. */
  readonly say: (text: string | readonly string[]) => void;
}

/** The demo needs no settings, and must not touch the mirror or service that the environment names. */
export function demoConfig({ url, token }: Pick<Sandbox, 'url' | 'token'>): Config {
  return loadConfig({
    env: {},
    flags: {
      source: { baseUrl: url, token },
      database: { url: `file:${DEMO_DATABASE}` },
      log: { level: 'error' }, // The story shows lost and refused requests.
      // Proofs that take minutes by default, in the time of a demo.
      deletions: { graceSeconds: 0.2 },
      outbound: { writes: 'on', settleSeconds: 0.2, lookScheduleSeconds: [0.5, 1, 2, 4, 8, 16] },
      freshness: { requestsPerMinute: null }, // The story says itself when it pulls.
      shutdown: { graceSeconds: 5 },
      server: { adminToken: randomBytes(32).toString('base64url'), port: 0 },
    },
  });
}

/** The kinds that other users change in the demo. */
export const CHANGED_KINDS = ['clients', 'products'] as const;

const PHONES = ['(418) 555-0142', '(514) 555-0117', '(819) 555-0163', '(450) 555-0128'];
const GARAGES = ['Garage Beaupré', 'Carrosserie Lévis', 'Pneus du Fleuve', 'Mécanique Sept-Îles'];
const PRICES = ['64.9500', '129.0000', '18.2500', '349.9900'];

/** Another user's work in the service's own screens: one edit, one new client, one client deleted. */
export function changeThree(world: World): void {
  const [edited, deleted] = [at(world, 'clients', 11), at(world, 'clients', 42)];
  world.update('clients', edited, { phone: '(418) 555-0199' });
  world.insert('clients', newClient(0));
  world.remove('clients', deleted);
}

/** The steps that are taken again and again once the story is over. */
const STEPS: readonly ((world: World, step: number) => void)[] = [
  (world, step) => world.update('clients', at(world, 'clients', step * 7), { phone: of(PHONES, step) }),
  (world, step) => world.update('products', at(world, 'products', step * 5), { price: of(PRICES, step) }),
  (world, step) => world.insert('clients', newClient(step)),
  (world, step) => world.update('clients', at(world, 'clients', step * 3), { phone: of(PHONES, step + 1) }),
  (world, step) => {
    world.remove('clients', at(world, 'clients', step * 11));
  },
];

/** One change after the other, from step 1; what happens follows from the number of the step. */
export function changeOne(world: World, step: number): void {
  STEPS[step % STEPS.length]?.(world, step);
}

function newClient(step: number): JsonObject {
  return { code: `NEW-${step + 1}`, name: `${of(GARAGES, step)} inc.`, phone: of(PHONES, step) };
}

const of = (texts: readonly string[], step: number): string => texts[step % texts.length] ?? '';

/** The id at a place of the list, counted round. */
function at(world: World, kind: string, place: number): number {
  const ids = world.ids(kind);
  return ids[place % ids.length] ?? 0;
}

const SIGNS: Readonly<Record<string, string>> = { created: '+', deleted: '-', restored: '+' };
/** The fields by which a person recognises a record. */
const NAMES = ['code', 'name', 'phone'];

/** Reads the lists that other users change; returns the events after the event `after`. */
export async function pullEvents(stage: DemoStage, after: number): Promise<readonly RecordedChange[]> {
  const { config, logger, io } = stage;
  await pull(config, {
    ...{ kinds: CHANGED_KINDS, acceptNewSource: false, logger, signal: io.signal },
    onProgress: () => undefined,
  });
  return eventsAfter(stage, after);
}

export async function eventsAfter({ config, io }: DemoStage, after: number): Promise<RecordedChange[]> {
  const events: RecordedChange[] = [];
  const wanted = { from: { after }, kind: undefined, limit: Infinity, isFollowing: false } as const;
  for await (const event of changes(config, wanted, io.signal)) events.push(event);
  return events;
}

/** Writes an event as a line of the story, with the values before and after. */
export function eventLine({ kind, recordId, change, fields, before, after, origin }: RecordedChange): string {
  const content = change === 'updated' ? fieldsShown(fields) : namesIn(after ?? before);
  const by = origin === 'service' ? '' : ' (written by bms-sync)';
  return `  ${SIGNS[change] ?? '~'} ${kind} ${recordId} ${change}: ${content}${by}`;
}

function namesIn(text: string | null): string {
  const record = text === null ? null : parseJson(text);
  if (!isObject(record)) return '';
  return NAMES.flatMap((name) => {
    const value = record[name];
    return value === undefined || value === null || value === '' ? [] : [`${name}: ${compactJson(value)}`];
  }).join(', ');
}
