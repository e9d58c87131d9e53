import { LISTED_KINDS } from '../catalog/kinds/catalog.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { recordId } from '../diff/compare-page.ts';
import { errorText } from '../lib/sync-error.ts';
import { SourceError, type SourceReason } from '../source/http/errors.ts';
import type { Source } from '../source/source.ts';
import { saveOff, sweptKinds } from '../store/kinds/status-store.ts';
import type { PullParts } from './parts.ts';

/** Reasons that mean that the service answers, but has no such list for this token. */
const ABSENT: Readonly<Record<string, readonly SourceReason[]>> = {
  refused: ['unauthorized', 'forbidden', 'blocked', 'success_false'],
  'not there': ['not_found', 'rejected', 'redirected', 'html', 'empty_body'],
  'of another shape': ['not_json', 'not_utf8', 'too_deep', 'data_not_a_list', 'bad_meta'],
};

/** How a service answers the request for one page of a kind that it may lack. */
type Showing =
  | {
      readonly answer: 'there';
      readonly list: Awaited<ReturnType<Source['probe']>>;
      readonly hasIds: boolean;
    }
  | { readonly answer: string; readonly list: null; readonly reason: string; readonly detail: string };

/** Asks once for the first page of a kind. `unknown`: the service failed, so the answer shows nothing about the kind. */
export async function askForKind(source: Source, kind: ListedKind): Promise<Showing> {
  try {
    const list = await source.probe(kind);
    const { length } = list.records;
    const usable = list.records.filter((record) => 'id' in recordId(record)).length;
    const detail = `${kind.list.path}: none of the ${length} records has a usable id`;
    if (length === 0 || usable > 0) return { answer: 'there', list, hasIds: usable === length };
    return { answer: 'of another shape', list: null, reason: 'no_usable_ids', detail };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const { reason } = error;
    const [answer = 'unknown'] = Object.entries(ABSENT).find(([, reasons]) => reasons.includes(reason)) ?? [];
    return { answer, list: null, reason, detail: errorText(error) };
  }
}

/** Whether the service answers a documented list: only then an answer to another path says something about that path. */
export async function answersDocumentedList(source: Source): Promise<boolean> {
  for (const kind of LISTED_KINDS.toReversed())
    if ((await askForKind(source, kind)).answer === 'there') return true;
  return false;
}

/**
 * Finds the kinds to sweep: all except the optional kinds that were never read to their end and that the service does not show. Such
 * kinds are off, with the reason in their state, until a later pull finds them.
 */
export async function withoutOffKinds(
  parts: PullParts,
  kinds: readonly ListedKind[],
): Promise<readonly ListedKind[]> {
  const optional = kinds.filter((kind) => kind.isOptional);
  if (optional.length === 0) return kinds;
  const swept = await sweptKinds(parts.session);
  const off = new Map<string, string>();
  const ask = async (kind: ListedKind): Promise<void> => {
    const showing = await askForKind(parts.source, kind);
    if (showing.list === null && showing.answer !== 'unknown') off.set(kind.name, showing.reason);
  };
  await Promise.all(optional.filter((kind) => !swept.has(kind.name)).map(ask));
  if (parts.signal?.aborted === true || off.size === 0 || !(await answersDocumentedList(parts.source)))
    return kinds;
  for (const [name, reason] of off) await parts.session.atomically((tx) => saveOff(tx, name, reason));
  return kinds.filter((kind) => !off.has(kind.name));
}
