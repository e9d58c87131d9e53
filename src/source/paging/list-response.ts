import type { Json } from '../../lib/json.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { ListEnd } from './end-proof.ts';
import type { Meta } from '../answer/envelope.ts';
import type { PartialPage } from '../page/list-page.ts';
import type { LoadedPage } from './load-page.ts';
import type { PageDigest } from '../page/page-digest.ts';
import type { SweepPlan } from './sweep-state.ts';

export interface ListResponse {
  /** The page that was asked for. */
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Rows on the page. */
  readonly rows: number;
  /** What tells each row from its neighbours: its id, as text however it was sent, or all of it. */
  readonly keys: TextList;
  /**
   * Whatever stood in `data`, unchecked; parsed at the first call where `isKnown`, or `partial` says what was parsed.
   *
   * @throws {SourceError} too_deep, where a known page can no longer be parsed.
   */
  readonly read: () => readonly Json[];
  /** The text of the records is that of the known page of this number: it was not parsed. */
  readonly isKnown: boolean;
  /** Which records are those of the known page of this number, byte by byte, and not parsed; null = all are, or none. */
  readonly partial: PartialPage | null;
  /** Null without a salt, or where it cannot be told for certain which bytes are the records. */
  readonly digest: PageDigest | null;
  readonly meta: Meta | null;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** What this response proves about the list's end: after an empty page at most, else exactly that many rows. */
  readonly end: ListEnd | null;
  /** The plan of the sweep once it has taken this response. */
  readonly plan: SweepPlan;
}

export function listResponse({ page, sent, answered, value }: LoadedPage, plan: SweepPlan): ListResponse {
  return { page, sent, answered, rows: value.keys.length, ...value, end: plan.end, plan };
}
