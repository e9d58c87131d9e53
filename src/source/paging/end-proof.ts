import type { Meta } from '../answer/envelope.ts';

/** The list had exactly this many rows when the response was made; after an empty page: at most. */
export interface ListEnd {
  readonly rows: number;
}

export interface PageShown {
  readonly page: number;
  readonly rows: number;
  readonly meta: Meta;
}

/**
 * Proves the end of a list from one response, by arithmetic; null = no proof.
 *
 * A full page proves nothing, even if `meta` agrees: its total may be cached, and rows would vanish.
 *
 * @param stride Rows on a full page of this sweep.
 */
export function provenEnd({ page, rows, meta }: PageShown, stride: number): ListEnd | null {
  const { lastPage, perPage } = meta;
  if (perPage !== null && perPage !== stride) return null;
  const before = (page - 1) * stride;
  if (rows === 0) return page > 1 && isClaimed(page, lastPage) ? null : { rows: before };
  if (rows >= stride) return null;
  return lastPage === null || lastPage === page ? { rows: before + rows } : null; // Else it is a hole.
}

/** Whether `meta` says that this page has rows. */
function isClaimed(page: number, lastPage: number | null): boolean {
  return lastPage !== null && lastPage >= page;
}

/** Whether all numbers of `meta` confirm a short last page, so that no further page must be requested. */
export function endIsAgreed(shown: PageShown, stride: number): boolean {
  const { page, rows, meta } = shown;
  return (
    rows > 0 &&
    rows < stride &&
    meta.currentPage === page &&
    meta.lastPage === page &&
    meta.perPage === stride &&
    meta.total === provenEnd(shown, stride)?.rows
  );
}
