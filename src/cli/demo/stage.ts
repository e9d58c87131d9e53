import { randomBytes } from 'node:crypto';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { pullOnce } from '../../app/pull.ts';
import { allKinds } from '../../config/known-kinds.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import { streamChanges, type RecordedChange } from '../../events/read-changes.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import { compactJson, parseObject, type JsonObject } from '../../lib/json/json.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { waitForEntries } from '../../outbound/decisions/entry-list.ts';
import { checkRequests, storeChecked } from '../../outbound/intake/intake.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { fieldsShown } from '../parts/change-row.ts';
import type { Io, Printed } from '../parts/io.ts';

export const DEMO_DATABASE = './data/demo.db';
/** Of its page, unless PORT names another one. */
const DEMO_PORT = '4011';

/** The parts of a demo: a simulated service, the settings of a mirror of it, and the terminal. */
export interface DemoStage {
  readonly sandbox: Sandbox;
  readonly config: Config;
  readonly logger: Logger;
  readonly io: Io;
  /** Prints one line, or the lines of a table; nothing where `--json` was asked for. */
  readonly print: (text: Printed) => void;
}

/** The demo needs no settings, and must not touch the mirror or service that the environment names. */
export function demoConfig(sandbox: Sandbox, { PORT = DEMO_PORT }: Io['env']): Config {
  return loadConfig({
    env: { PORT },
    flags: {
      source: { baseUrl: sandbox.url, token: sandbox.token },
      database: { url: `file:${DEMO_DATABASE}` },
      log: { level: 'error' }, // The story shows lost and refused requests.
      // Proofs that take minutes by default, in the time of a demo.
      deletions: { graceSeconds: 0.2 },
      outbound: { writes: 'on', settleSeconds: 0.2, patienceSeconds: 4 },
      freshness: { requestsPerMinute: null }, // The story says itself when it pulls.
      shutdown: { graceSeconds: 5 },
      server: { adminToken: randomBytes(32).toString('base64url') },
    },
  });
}

const SIGNS: Readonly<Record<string, string>> = { created: '+', deleted: '-', restored: '+' };
/** The fields that identify a record to people. */
const NAMES = ['code', 'name', 'phone'];

/** Reads the lists that other users change; returns the events after the event `after`. */
export async function pullEvents(stage: DemoStage, after: number): Promise<readonly RecordedChange[]> {
  const { config, logger, io } = stage;
  const kinds = ['clients', 'products'];
  await pullOnce(config, { kinds, acceptNewSource: false, logger, signal: io.signal });
  return eventsAfter(stage, after);
}

export async function eventsAfter(stage: DemoStage, after: number): Promise<RecordedChange[]> {
  await using session = await openExistingMirror(stage.config);
  const wanted = { after, upTo: await latestSeq(session), kind: undefined };
  const events: RecordedChange[] = [];
  for await (const event of streamChanges(session, wanted, stage.io.signal)) events.push(event);
  return events;
}

export function eventLine(recordedChange: RecordedChange): string {
  const { kind, recordId, change, fields, before, after, origin } = recordedChange;
  const content = change === 'updated' ? fieldsShown(fields) : namesIn(after ?? before);
  const by = origin === 'service' ? '' : ' (written by bms-sync)';
  return `  ${SIGNS[change] ?? '~'} ${kind} ${recordId} ${change}: ${content}${by}`;
}

function namesIn(text: string | null): string {
  const record = parseObject(text ?? '{}');
  const named = NAMES.filter((name) => (record[name] ?? '') !== '');
  return named.map((name) => `${name}: ${compactJson(record[name] ?? null)}`).join(', ');
}

const PATIENCE_MS = 20_000;

/** Stores an entry that creates a client, and waits until it is done or needs a person, for 20 seconds at most. */
export async function pushClient(stage: DemoStage, data: JsonObject): Promise<Entry> {
  await using session = await openExistingMirror(stage.config);
  const requests = [{ operation: 'create', kind: 'clients', data }];
  const checked = await checkRequests(session, allKinds(stage.config), requests);
  const stored = await storeChecked(session, checked, systemClock.now());
  const ids = stored.map((entry) => entry.id);
  const waiting = { clock: systemClock, timeoutMs: PATIENCE_MS, signal: stage.io.signal };
  const [entry] = await waitForEntries(session, ids, waiting);
  if (entry === undefined) throw new TypeError('The outbox lost the entry of the demo.');
  return entry;
}
