import { sql } from 'drizzle-orm';
import { withUsableRetrieve, isListed, type Kind, type ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/compare-page.ts';
import { MAX_CONTROL_FAILURES } from '../../diff/decide-deletions.ts';
import { isObject, type JsonObject } from '../../lib/json/json.ts';
import { readTexts } from '../../db/rows/rows.ts';
import { readStanding } from '../../store/kinds/kind-standing.ts';
import { findCreator } from '../../store/outbox/attempts-and-links.ts';
import { readPageOf } from '../../store/sightings/page-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { PageRange } from '../../source/paging/walk-steps.ts';
import { readOwnRows } from '../mirror-rows.ts';
import type { OutboundParts } from '../parts.ts';

/** This reading does not land, so no counter needs its ticks. */
const NO_TICKS = { tick: (): number => 0 };

/** Rows move between pages while a list is read, so that a moving row may be on none of the pages read. */
const MAX_READINGS = 3;

/**
 * Reads the service's present record: by its path, or in its list if the path cannot be relied on.
 * @returns Null if the service has no such record.
 * @throws {SourceError} If no answer settles the question.
 */
export async function readRemote(parts: OutboundParts, kind: Kind, id: string): Promise<JsonObject | null> {
  return (await readByPath(parts, kind, id)) ?? (await readInList(parts, kind, id));
}

/** The record as its list shows it; null if the list shows none. */
export async function readInList(parts: OutboundParts, kind: Kind, id: string): Promise<JsonObject | null> {
  if (!isListed(kind)) return null;
  const page = await readPageOf(parts.session, kind.name, id); // The page that showed it last.
  let found = page === null ? null : await findOnPages(parts, kind, id, { from: page, to: page });
  for (let reading = 0; reading < MAX_READINGS && found === null; reading++)
    found = await findOnPages(parts, kind, id, { from: 1, to: Infinity });
  return found;
}

/** The record as its path shows it; null if there is none, or the path cannot be relied on. */
export async function readByPath(parts: OutboundParts, kind: Kind, id: string): Promise<JsonObject | null> {
  const askable = withUsableRetrieve(kind);
  const { controlFailures } = await readStanding(parts.session, kind.name);
  if (askable === null || controlFailures >= MAX_CONTROL_FAILURES) return null;
  return (await parts.source.retrieve(askable, id)).record;
}

/**
 * Whether the service has never had a record: no list has shown it, no create of ours has made it, and its path shows none, neither
 * before nor after the path of another answers: an outage may end in between.
 */
export async function isNoSuchRecord(parts: OutboundParts, kind: Kind, id: string): Promise<boolean> {
  const { session } = parts;
  const isKnown =
    (await readOwnRows(session, kind.name, [id])).size > 0 ||
    (await findCreator(session, kind.name, id)) !== null;
  if (isKnown || (await readStanding(session, kind.name)).baselineAt === null) return false;
  const isAbsent = async (): Promise<boolean> => (await readByPath(parts, kind, id)) === null;
  return (
    (await isAbsent()) && (await readControl(parts, kind, id, readByPath)) === 'answers' && (await isAbsent())
  );
}

/** Why an entry waits whose record could not be read, and how long the service asks it to. */
export const readFailure = ({ reason, passing }: SourceError) => ({
  verdict: reason === 'rate_limited' ? 'busy' : 'unreachable',
  requestedMs: passing?.waitMs ?? null,
});

async function findOnPages(parts: OutboundParts, kind: ListedKind, id: string, range: PageRange) {
  for await (const response of parts.source.pages(kind, range, NO_TICKS)) {
    const found = response.read().find((record) => {
      const read = recordId(record);
      return 'id' in read && read.id === id;
    });
    if (isObject(found)) return found;
  }
  return null;
}

/**
 * Reads other records that the list has shown, until one answers: whether it is this record alone that does not. `forbidden`: we
 * may not read the others either; `none`: there are none.
 */
export async function readControl(
  parts: OutboundParts,
  kind: Kind,
  id: string,
  read: typeof readRemote = readRemote,
): Promise<'answers' | 'forbidden' | 'silent' | 'none'> {
  const ids = await readControls(parts, kind, id);
  let isForbidden = false;
  for (const control of ids) {
    try {
      if ((await read(parts, kind, control)) !== null) return 'answers';
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      isForbidden ||= error.reason === 'forbidden';
    }
  }
  if (isForbidden) return 'forbidden';
  return ids.length === 0 ? 'none' : 'silent';
}

/** The first, the last and the next live record that the list has shown. */
async function readControls(parts: OutboundParts, kind: Kind, id: string): Promise<readonly string[]> {
  const others = sql`
    select cast(k.id as text) as id from ${sql.identifier(kind.name)} as k
    where k._deleted_at is null and k._listed is not null and k.id <> ${id}`;
  const ends = [sql`order by k.id`, sql`order by k.id desc`, sql`and k.id > ${id} order by k.id`];
  const ids = new Set<string>();
  for (const end of ends)
    for (const one of await readTexts(parts.session, sql`${others} ${end} limit 1`)) ids.add(one);
  return [...ids];
}
