import type { TextList } from '../../lib/text-list.ts';
import type { StoredPage } from '../../mirror/sightings/page-store.ts';
import type { Sweep } from '../state/sweep.ts';

/**
 * Whether a row may differ from its page as last landed: another response wrote it after the page was requested, or an
 * outbox entry is changing it.
 */
export function hasOtherWrites(
  ids: TextList,
  { sent, response }: StoredPage,
  { touched, sending }: Pick<Sweep, 'touched' | 'sending'>,
): boolean {
  if (touched.isEmpty() && sending.size === 0) return false;
  for (const id of ids) {
    const write = touched.lastWrite(id);
    if (sending.has(id) || (write > sent && write !== response)) return true;
  }
  return false;
}
