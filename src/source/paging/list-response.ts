import type { Json } from '../../lib/json.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { ListEnd } from './end-proof.ts';
import type { Meta } from '../answer/envelope.ts';
import type { PartialPage } from '../page/list-page.ts';
import type { LoadedPage } from './load-page.ts';
import type { PageDigest } from '../page/page-digest.ts';
import type { SweepPlan } from './sweep-state.ts';

export interface ListResponse {
  /** The requested page. */
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Rows on the page. */
  readonly rows: number;
  /** Identifies each row within the list: its id, as text in any spelling, or the whole record. */
  readonly keys: TextList;
  /**
   * The records in `data`, unchecked. Parsed at the first call if `isKnown`; `partial` names the parsed ones.
   *
   * @throws {SourceError} too_deep, if a known page can no longer be parsed.
   */
  readonly read: () => readonly Json[];
  /** The text of the records is that of the known page of this number: it was not parsed. */
  readonly isKnown: boolean;
  /** Which records are those of the known page of this number, byte by byte, and not parsed; null = all are, or none. */
  readonly partial: PartialPage | null;
  /** Null without a digest scope, or if the bytes of the records cannot be located for certain. */
  readonly digest: PageDigest | null;
  readonly meta: Meta | null;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** The proof of the list's end: at most this many rows after an empty page, else exactly this many. */
  readonly end: ListEnd | null;
  /** The plan of the sweep once it has taken this response. */
  readonly plan: SweepPlan;
}

export function listResponse({ page, sent, answered, value }: LoadedPage, plan: SweepPlan): ListResponse {
  return { page, sent, answered, rows: value.keys.length, ...value, end: plan.end, plan };
}
