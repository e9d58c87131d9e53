import type { Transaction } from '../../db/session/session.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/time/zone-offset.ts';
import { deleteMeta, readMeta, writeMeta } from '../../store/kinds/meta.ts';
import type { PullParts } from '../run/parts.ts';

/**
 * Sets the page size of a kind's list to the one in which its latest sweep was answered, if that is smaller than the settings want.
 *
 * @param isSweep A sweep alone goes back to larger pages: page numbers mean those of the latest sweep.
 */
export async function restorePageSize(parts: PullParts, kind: string, isSweep: boolean): Promise<void> {
  const { wanted, answered } = parts.source.pageSizes;
  answered.delete(kind);
  const stored = await readMeta(parts.session, `page_size.${kind}`);
  if (stored === null) return;
  const [size, before, since = ''] = stored.split('/');
  const isStale = since < formatInstant(new Date(parts.clock.now().getTime() - DAY_MS)); // A sweep tries the wanted size again.
  if (isSweep && (isStale || Number(before) !== wanted))
    await parts.session.atomically((tx) => deleteMeta(tx, `page_size.${kind}`));
  else answered.set(kind, Number(size));
}

/** Keeps the size of the pages in which a list was answered, where it is smaller than the settings want. */
export async function savePageSize(tx: Transaction, parts: PullParts, kind: string): Promise<void> {
  const { wanted, answered } = parts.source.pageSizes;
  const size = answered.get(kind) ?? wanted;
  const stored = await readMeta(tx, `page_size.${kind}`);
  if (size >= wanted || stored?.startsWith(`${size}/`)) return;
  const message = 'the list is read in smaller pages: the service refuses larger ones or is too slow';
  parts.logger.warn({ kind, pageSize: size, wanted }, message);
  await writeMeta(tx, `page_size.${kind}`, `${size}/${wanted}/${formatInstant(parts.clock.now())}`);
}
