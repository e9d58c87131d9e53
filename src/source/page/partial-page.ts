import type { Json } from '../../lib/json.ts';
import type { ListBody } from '../answer/envelope.ts';
import { digestOf, openAround } from './page-digest.ts';
import type { ListText, PageDigest } from './page-digest.ts';
import { elementsOf, recordStart } from './record-bytes.ts';
import { digestsOf, digestsText, knownIds } from './record-digests.ts';
import type { RecordsKnown } from './record-digests.ts';

/** A list in which only the records with unknown text were parsed. */
interface PartlyRead extends Omit<ListBody, 'records'> {
  /** One for each record on the page: the id where it is known, else itself. */
  readonly rows: readonly PartlyReadRow[];
  readonly digest: PageDigest;
}

type PartlyReadRow = { readonly id: string } | { readonly record: Json };

/**
 * Opens a list without parsing the records whose text is known from the last landing.
 *
 * A known text is one JSON value, and all other text is parsed in its place: so the list is valid JSON as a whole if
 * the rest is.
 *
 * @returns Null if no record is known, or if anything else is wrong: the body must then be parsed in full.
 */
export function openPartly(answer: ListText, known: RecordsKnown): PartlyRead | null {
  const { bytes } = answer;
  const start = recordStart(bytes);
  const elements = start === null ? null : elementsOf(bytes, start);
  if (start === null || elements === null) return null;

  const digests = digestsOf(bytes, elements.parts);
  const ids = knownIds(digests, known);
  if (ids === null || ids.every((id) => id === undefined)) return null;
  const others = elements.parts.filter((_, index) => ids[index] === undefined);
  const part = { start, end: elements.end };
  const list = openAround(answer, part, others);
  if (list === null) return null;

  const records = list.records.values();
  return {
    ...{ meta: list.meta, envelope: list.envelope },
    rows: ids.map((id) => (id === undefined ? { record: records.next().value ?? null } : { id })),
    digest: {
      ...{ digest: digestOf(answer, known.digestScope, part), bytes: part.end - start },
      records: digestsText(digests, known.digestScope),
    },
  };
}
