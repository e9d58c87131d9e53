import { setTimeout as pause } from 'node:timers/promises';
import { vi } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import { creates, insert, updates, type Scene, type Wish } from './outbound-scene.ts';
import type { Crew } from './three-processes-crew.ts';

/** The kinds that are pulled, and the field of each that nobody but the service's own people writes. */
export const OUTSIDE = { clients: 'website', providers: 'website', products: 'name_en' } as const;
export const KINDS = Object.keys(OUTSIDE) as readonly (keyof typeof OUTSIDE)[];

/** Of the others somebody asks for pulls all the time; the list of this one is read as its schedule says. */
const SCHEDULED = 'products';
const ASKED_FOR = KINDS.filter((kind) => kind !== SCHEDULED);

const STEP_MS = 200;
const PULL_EVERY = 2;
const EDITS = 2;

export interface Load {
  /** What went into the outbox so far. */
  readonly wishes: Wish[];
  /** The numbers of the events that a reader of the feed was given, in the order in which it got them. */
  readonly read: number[];
  /** Edits and creations by the service's own people. */
  outside: number;
  pulls: number;
}

/** Changes the service, pushes, asks for pulls and follows the feed, until the signal fires. */
export async function work(scene: Scene, crew: Crew, { isOver }: { isOver: () => boolean }): Promise<Load> {
  const load: Load = { wishes: [], read: [], outside: 0, pulls: 0 };
  for (let step = 0; !isOver(); step++) {
    changeService(scene.service.world, load);
    await push(scene, crew, load);
    if (step % PULL_EVERY === 0) {
      await crew.ask({ path: '/v1/pulls', body: { kinds: ASKED_FOR } });
      load.pulls++;
    }
    await readFeed(crew, load);
    await pause(STEP_MS);
  }
  return load;
}

/** The service's own people edit some records of each kind, and make one. */
function changeService(world: World, load: Load): void {
  for (const kind of KINDS)
    for (let edit = 0; edit < EDITS; edit++) {
      const ids = world.ids(kind);
      const id = ids[(load.outside * 7) % ids.length];
      if (id !== undefined) world.update(kind, id, { [OUTSIDE[kind]]: `Outside ${load.outside}` });
      load.outside++;
    }
  const kind = KINDS[load.outside % KINDS.length] ?? 'clients';
  const code = `NEW-outside-${load.outside}`; // Not one of the ones that are updated from here.
  world.insert(kind, { code, ...(kind === 'products' ? { name_en: code } : { name: code }) });
  load.outside++;
}

/** Creates by the API, which may be asked twice for one; updates by SQL, as an application inserts them. */
async function push(scene: Scene, crew: Crew, { wishes }: Load): Promise<void> {
  const from = wishes.length;
  const made = [...creates('clients', 3, from), ...creates('providers', 2, from)];
  const changed = updates(scene, 5, from);
  wishes.push(...made, ...changed);
  await insert(scene, changed);
  await Promise.all(made.map(({ key, ...body }) => crew.ask({ path: '/v1/outbox', body, key })));
}

/** Goes on in the feed where it stopped, at whichever process. */
export async function readFeed(crew: Crew, { read }: Pick<Load, 'read'>): Promise<void> {
  for (;;) {
    const { changes } = await crew.ask({ path: `/v1/changes?after=${read.at(-1) ?? 0}&limit=1000` });
    const events = changes as readonly { readonly seq: number }[];
    if (events.length === 0) return;
    read.push(...events.map(({ seq }) => seq));
  }
}

export interface Updated {
  readonly kind: string;
  readonly id: number;
  readonly fields: JsonObject;
}

/** Every write that the service has done, by whomever. */
export interface Ledger {
  readonly inserted: () => readonly JsonObject[];
  readonly updated: () => readonly Updated[];
}

export function keepLedger(world: World): Ledger {
  const inserts = vi.spyOn(world, 'insert');
  const updated = vi.spyOn(world, 'update');
  return {
    inserted: () => inserts.mock.calls.map(([, fields]) => fields),
    updated: () => updated.mock.calls.map(([kind, id, fields]) => ({ kind, id, fields })),
  };
}
