import { askableKind, isListed } from '../../catalog/kind.ts';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/judge-page.ts';
import { isObject } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readStanding } from '../../mirror/kinds/kind-standing.ts';
import { readPageOf } from '../../mirror/sightings/page-store.ts';
import type { OutboundParts } from '../parts.ts';

/** Sweeps with a failed control after which a path is no longer used. */
const MOST_CONTROL_FAILURES = 3;
/** This reading does not land, so no counter needs its ticks. */
const NO_TICKS = { tick: (): number => 0 };

/**
 * Reads the service's present record: by its path, or in its list if the path cannot be relied on.
 *
 * @returns Null if the service has no such record.
 * @throws {SourceError} If no answer settles the question.
 */
export async function readRemote(parts: OutboundParts, kind: Kind, id: string): Promise<JsonObject | null> {
  const askable = askableKind(kind);
  const { controlFailures } = await readStanding(parts.session, kind.name);
  if (askable !== null && controlFailures < MOST_CONTROL_FAILURES) {
    const { record } = await parts.source.retrieve(askable, id);
    if (record !== null) return record;
  }
  return isListed(kind) ? findInList(parts, kind, id) : null;
}

/** Rows move between pages while a list is read, so that a moving row may be on none of the pages read. */
const MOST_READINGS = 3;

/** Searches the page that showed it last, then all pages, several times. */
async function findInList(parts: OutboundParts, kind: ListedKind, id: string): Promise<JsonObject | null> {
  const page = await readPageOf(parts.session, kind.name, id);
  let found = page === null ? null : await findOnPages(parts, kind, { id, from: page, to: page });
  for (let reading = 0; reading < MOST_READINGS && found === null; reading++)
    found = await findOnPages(parts, kind, { id, from: 1, to: Infinity });
  return found;
}

async function findOnPages(
  { source }: OutboundParts,
  kind: ListedKind,
  { id, from, to }: { readonly id: string; readonly from: number; readonly to: number },
): Promise<JsonObject | null> {
  for await (const response of source.pages(kind, { from, to }, NO_TICKS)) {
    const found = response.read().find((record) => {
      const read = recordId(record);
      return 'id' in read && read.id === id;
    });
    if (isObject(found)) return found;
  }
  return null;
}
