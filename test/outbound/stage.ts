import { sql } from 'drizzle-orm';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import { compactJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import { findEntry, type Entry, type Operation } from '../../src/store/outbox/outbox-store.ts';
import { claimRun, requestedRuns } from '../../src/store/runs/run-requests.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { checkRequests, storeChecked } from '../../src/outbound/intake/intake.ts';
import { createOwnSends } from '../../src/outbound/own-sends.ts';
import { startStopwatch } from '../../src/outbound/stopwatch.ts';
import { outboxWork } from '../../src/outbound/send/outbox-work.ts';
import type { OutboundParts, OutboundRules } from '../../src/outbound/parts.ts';
import type { DeletionRules } from '../../src/diff/absence.ts';
import { pullKinds } from '../../src/pull/sweep/pull-kinds.ts';
import type { FaultAction } from '../../sandbox/faults.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.ts';
import { fakeClock, type FakeClock } from '../support/fake-clock.ts';
import { MIRRORS } from '../pull/steps.ts';
import { logger, openSandboxSource, RULES, sandbox } from '../pull/support.ts';
import { insertEntry } from '../store/outbox/entries.ts';

export const OUTBOUND_RULES: OutboundRules = {
  settleSeconds: 300,
  patienceSeconds: 86_400,
  graceSeconds: 900,
  ignoreFields: {},
};

export interface Wish {
  readonly operation: Operation;
  readonly kind: string;
  readonly id?: string;
  readonly data: Json;
  readonly base?: Json;
  readonly key?: string;
  readonly allowDouble?: true;
}

/** A mirror, its outbox and the service behind it, with a clock that moves on request only. */
export interface Stage {
  readonly session: Session;
  readonly service: Sandbox;
  readonly clock: FakeClock;
  readonly parts: OutboundParts;
  readonly outbox: ReturnType<typeof outboxWork>;
  /** What was marked beside the database. */
  readonly mark: { sends: number };
  /** Stores an entry as an application does by SQL; returns its id. */
  readonly store: (wish: Wish) => Promise<number>;
  /** Stores an entry and works all that is due; returns its id. */
  readonly send: (wish: Wish) => Promise<number>;
  /** Works all that is due, and the sweeps that it asks for, until nothing is due any more. */
  readonly work: () => Promise<void>;
  /** Lets time pass and works what has come due. */
  readonly pass: (seconds: number) => Promise<void>;
  readonly pull: (...kinds: readonly string[]) => Promise<void>;
  readonly entry: (id: number) => Promise<Entry>;
  readonly rows: (statement: ReturnType<typeof sql>) => Promise<Row[]>;
  /** The id of the first record of a kind, as the mirror has it. */
  readonly firstId: (kind: string) => Promise<string>;
  /** Every change event in three words: which record, what happened, whose doing. */
  readonly events: () => Promise<string[]>;
  /** The grades of an entry's attempts; null = open. */
  readonly grades: (id: number) => Promise<unknown[]>;
}

export interface Staging {
  readonly rules?: Partial<OutboundRules>;
  readonly parts?: Partial<OutboundParts>;
  readonly clock?: FakeClock;
  readonly deletions?: Partial<DeletionRules>;
}

let keys = 0;

export function stage(
  service: Sandbox,
  session: Session,
  { rules, parts: partOverrides, clock = fakeClock(), deletions }: Staging = {},
): Stage {
  const source = openSandboxSource(service, clock);
  const mark = { sends: 0 };
  const parts: OutboundParts = {
    session,
    source,
    clock,
    logger,
    owner: 'us:1:a',
    ownSends: createOwnSends(),
    kinds: KINDS,
    waits: { stopwatch: startStopwatch(clock), random: () => 0 },
    rules: { ...OUTBOUND_RULES, ...rules },
    sendCounter: {
      read: () => Promise.resolve(mark.sends),
      write: (sends) => {
        mark.sends = sends;
        return Promise.resolve();
      },
    },
    ...partOverrides,
  };
  const outbox = outboxWork(parts);

  const pull = async (...names: readonly string[]): Promise<void> => {
    await sweep(names);
  };
  const sweep = async (names: readonly string[], runId?: number): Promise<void> => {
    const kinds = parts.kinds.filter(({ name }) => names.includes(name));
    await pullKinds(
      { session, source, clock, logger, owner: parts.owner },
      {
        ...RULES,
        kinds: kinds.filter(isListed),
        baseUrl: service.url,
        acceptNewSource: false,
        deletions: { ...RULES.deletions, ...deletions },
        ...(runId !== undefined && { runId }),
      },
    );
  };

  const work = async (): Promise<void> => {
    for (let round = 0; round < 100; round++) {
      const due = await outbox.due(100);
      for (const entry of due) await outbox.work(entry);
      const runs = await requestedRuns(session);
      for (const run of runs) {
        const claim = { ...run, owner: parts.owner, now: clock.now() };
        const claimed = await session.atomically((tx) => claimRun(tx, claim));
        if (claimed !== null) await sweep(claimed.kinds, run.id);
      }
      if (due.length === 0 && runs.length === 0) return;
    }
    throw new Error('The outbox does not come to rest.');
  };

  const store: Stage['store'] = async ({
    operation,
    kind,
    id = null,
    data,
    base,
    key = `key-${++keys}`,
    allowDouble,
  }) => {
    const entry = { operation, kind, recordId: id, key, payload: compactJson(data), naturalKey: null };
    const options = {
      base: base === undefined ? null : compactJson(base),
      allowsDouble: allowDouble === true,
      now: clock.now(),
    };
    const stored = await session.atomically((tx) => insertEntry(tx, { ...entry, ...options }));
    if (stored === null) throw new Error(`the key ${key} is taken`);
    return stored;
  };

  return {
    session,
    service,
    clock,
    parts,
    outbox,
    mark,
    work,
    pull,
    store,
    send: async (wish) => {
      const id = await store(wish);
      await work();
      return id;
    },
    pass: async (seconds) => {
      await clock.sleep(seconds * 1000);
      await work();
    },
    entry: async (id) => {
      const entry = await findEntry(session, id);
      if (entry === null) throw new Error(`no entry ${id}`);
      return entry;
    },
    rows: (statement) => session.query(statement),
    firstId: async (kind) => {
      const [row] = await session.query(sql`
        select cast(id as text) as text_id from ${sql.identifier(kind)} as k order by k.id limit 1`);
      return String(row?.['text_id']);
    },
    events: async () => {
      const rows = await session.query(sql`select record_id, change, origin from changes order by seq`);
      return rows.map(({ record_id, change, origin }) => [record_id, change, origin].map(String).join(' '));
    },
    grades: async (id) => {
      const rows = await session.query(sql`
        select grade from outbox_attempts where outbox_id = ${id} order by n`);
      return rows.map(({ grade }) => grade);
    },
  };
}

export interface Opening extends Staging {
  readonly database?: keyof typeof MIRRORS;
  readonly service?: SandboxOptions;
  /** Kinds that the mirror knows already. */
  readonly pulled?: readonly string[];
}

/** A service, and a mirror that knows its clients. */
export async function opened({
  database = 'SQLite',
  service: options,
  pulled = ['clients'],
  ...staging
}: Opening = {}): Promise<Stage> {
  const on = stage(await sandbox(options), await MIRRORS[database](), staging);
  await on.outbox.due(0); // It starts before it reads.
  if (pulled.length > 0) await on.pull(...pulled);
  return on;
}

/** Lets requests by this method go wrong, for this kind; so many times. */
export function spoil(
  { service }: Stage,
  method: 'GET' | 'POST' | 'PUT',
  action: FaultAction,
  { kind = 'clients', times, skip }: { kind?: string; times?: number; skip?: number } = {},
): void {
  const often = { ...(times !== undefined && { times }), ...(skip !== undefined && { skip }) };
  service.setFaults([{ on: { kind, method }, ...often, do: action }]);
}

/** Paths of the requests by this method so far. */
export function asked({ service }: Stage, method: string): string[] {
  return service.requests.filter((request) => request.method === method).map(({ path }) => path);
}

export const ZOE = { code: 'ZZ-1', name: 'Zoé' };
export const create = (data: Json = ZOE, kind = 'clients'): Wish => ({ operation: 'create', kind, data });
export const update = (id: string, data: Json, kind = 'clients'): Wish => ({
  operation: 'update',
  kind,
  id,
  data,
});

/** Enters a client in the service's own screens; returns its id. */
export function enter({ service }: Stage, fields: JsonObject): string {
  return compactJson(service.world.insert('clients', fields)['id'] ?? null);
}

/** What the service has in a client's field, where that is a text. */
export function textOf({ service }: Stage, id: string | null, field: string): string | null {
  const value = service.world.get('clients', Number(id))?.[field];
  return typeof value === 'string' ? value : null;
}

/** Clients of the service that have Zoé's code. */
export function zoes({ service }: Stage): number {
  return service.world.ids('clients').filter((id) => service.world.get('clients', id)?.['code'] === 'ZZ-1')
    .length;
}

/** Lets all the looks up to patience pass. */
export async function endPatience(on: Stage): Promise<void> {
  for (const seconds of [300, 3300, 18_000, 21_600, 43_200]) await on.pass(seconds);
}

/** Pushes as the command does; the base is the mirror's row unless one is given. */
export async function push(on: Stage, id: string, data: JsonObject, base?: JsonObject): Promise<number> {
  await on.clock.sleep(1000);
  const request = { operation: 'update', kind: 'clients', id, data, ...(base && { base }) } as const;
  const checked = await checkRequests(on.session, KINDS, [request]);
  const [stored] = await storeChecked(on.session, checked, on.clock.now());
  await on.clock.sleep(1000);
  return stored?.id ?? 0;
}
