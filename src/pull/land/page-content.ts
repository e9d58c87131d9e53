import { sortPage } from '../../diff/judge-page.ts';
import type { Incoming, Quarantined, SortedPage } from '../../diff/judge-page.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { StoredPage } from '../../mirror/sightings/page-store.ts';
import type { ListResponse } from '../../source/source.ts';
import { hasOtherWrites } from './other-writes.ts';
import type { Sweep } from '../state/sweep.ts';

/** The part of a page that must be landed. */
interface PageContent extends SortedPage {
  /** Ids of the records that have rows, or get them, in the order of the page. */
  readonly seen: TextList;
  /** Ids of records that are known to be in the list, although no row can be made of them. */
  readonly unclear: readonly string[];
  /** Fields that some record had. */
  readonly fields: ReadonlySet<string>;
}

const HAS_ID: ReadonlySet<string> = new Set<Quarantined['code']>(['two_versions', 'too_deep']);

/** Takes the part of a page that must be landed: its changed records if that is safe, else all of them. */
export function contentOf(response: ListResponse, page: StoredPage | undefined, sweep: Sweep): PageContent {
  return (page && changedContent(response, page, sweep)) ?? wholeContent(response);
}

/**
 * Takes the changed records of a page; null if all records must be parsed.
 *
 * Unparsed records are taken as last landed. That is safe only if no other write has altered their rows, and if the
 * changed records still show every field the page had (else a vanished field would go unnoticed).
 */
function changedContent({ partial, keys }: ListResponse, page: StoredPage, sweep: Sweep): PageContent | null {
  if (partial === null || hasOtherWrites(partial.unchanged, page, sweep)) return null;
  const sorted = sortPage(partial.changed);
  if (sorted.quarantined.length > 0) return null;
  const fields = fieldsOf(sorted.incoming);
  return page.fields.every((name) => fields.has(name))
    ? { ...sorted, seen: keys, unclear: [], fields: new Set([...page.fields, ...fields]) }
    : null;
}

function wholeContent(response: ListResponse): PageContent {
  const sorted = sortPage(response.read());
  return {
    ...sorted,
    seen: sorted.incoming.map(({ id }) => id),
    unclear: sorted.quarantined.flatMap(({ id, code }) => (id !== null && HAS_ID.has(code) ? [id] : [])),
    fields: fieldsOf(sorted.incoming),
  };
}

/** Most records of a page have the same fields in the same order: an equal field list is checked once. */
function fieldsOf(records: readonly Incoming[]): ReadonlySet<string> {
  const fields = new Set<string>();
  let before: readonly string[] = [];
  for (const { record } of records) {
    const names = Object.keys(record);
    const isSame = names.length === before.length && names.every((name, index) => name === before[index]);
    if (!isSame) for (const name of names) fields.add(name);
    before = names;
  }
  return fields;
}
