import { randomFrom } from '../../sandbox/generate/draw.ts';
import { locateReader, readChangesPage } from '../../src/events/follow-changes.ts';
import { dumpMirror, type Dump } from './dump.ts';
import type { Finding, Found } from './finding.ts';
import type { Recording } from './history.ts';
import { fits } from './mirror-truths.ts';
import { plainText } from './spelled.ts';
import type { Stage } from './stage.ts';

/** A reader of `/v1/changes`: its copy of the mirror, and up to where it has read. */
export interface Reader {
  /** Contents by kind and id. */
  readonly copy: Map<string, string | null>;
  after: number;
  log: string;
  /** The log that it began with. */
  readonly firstLog: string;
}

const LONGEST_REST_MS = 30_000;
const PAGE = 100;

/** Follows the events until the history is over, as a program does that reads them page by page. */
export async function followChanges(stage: Stage): Promise<void> {
  const { session, timeline } = stage;
  const random = randomFrom('reader', stage.seed);
  const { log, next } = await locateReader(session, { after: 0 });
  const reader: Reader = { copy: new Map(), after: next, log, firstLog: log };
  stage.reader = reader;
  await readAll(stage, reader);
  while (!stage.isOver) {
    await timeline.clock.sleep(random.integer(1_000, LONGEST_REST_MS));
    await readOn(stage, reader);
  }
}

/** Reads a page of events; where the reader has lost its place, all records. */
async function readOn(stage: Stage, reader: Reader): Promise<void> {
  const { session, timeline } = stage;
  const place = await locateReader(session, reader);
  timeline.stir();
  if (place.isLost) {
    Object.assign(reader, { after: place.next, log: place.log });
    return readAll(stage, reader);
  }
  const { changes, next } = await readChangesPage(session, { after: reader.after, limit: PAGE });
  timeline.stir();
  for (const { kind, recordId, after } of changes) reader.copy.set(`${kind} ${recordId}`, after);
  Object.assign(reader, { after: next, log: place.log });
}

async function readAll({ session, timeline, kinds }: Stage, { copy }: Reader): Promise<void> {
  const all = await session.atomically((tx) => dumpMirror(tx, kinds));
  timeline.stir();
  copy.clear();
  for (const [key, raw] of contentsOf(all)) copy.set(key, raw);
}

const contentsOf = ({ kinds }: Dump): readonly (readonly [string, string])[] =>
  [...kinds].flatMap(([kind, { rows }]) =>
    [...rows.values()].flatMap(({ id, raw, deletedAt }) =>
      deletedAt === null ? [[`${kind} ${id}`, raw] as const] : [],
    ),
  );

/** Records that a reader has otherwise than the mirror: the numbers of events came a second time, and nobody said so. */
export function misled({ reader, log, final, personality }: Recording): Found {
  if (reader === null || reader.firstLog === log) return []; // Without an accepted restore nothing is promised.
  const held = new Map([...reader.copy].filter(([, raw]) => raw !== null));
  const plain = (raw: string | null, key: string) =>
    raw && plainText(raw, key.split(' ')[0] ?? '', personality);
  const rows = new Map(contentsOf(final));
  const keys = [...new Set([...rows.keys(), ...held.keys()])];
  return keys
    .filter((key) => !fits(plain(held.get(key) ?? null, key), plain(rows.get(key) ?? null, key)))
    .map((key): Finding => ({
      invariant: 'misled',
      detail: `a reader has ${key} otherwise than the mirror`,
    }));
}
