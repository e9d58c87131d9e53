import { listReadyFiles, readyKinds } from '../catalog/declared-kinds.ts';
import type { ListedKind } from '../catalog/kind.ts';
import { isObject, plainJson, type Json } from '../lib/json/json.ts';
import { answersDocumentedList, askForKind } from '../pull/optional-kinds.ts';
import type { Source } from '../source/source.ts';

/** The description of a kind of a ready file, by one page of its list. Has names of fields, but no value of a record. */
export type DiscoveredKind = Awaited<ReturnType<typeof discoverKind>>;

/** Asks the service for one page of each kind of the ready files, whether the settings include it or not. */
export async function discoverKinds(source: Source): Promise<readonly DiscoveredKind[]> {
  const isUsable = await answersDocumentedList(source);
  const kinds: DiscoveredKind[] = [];
  for (const file of listReadyFiles())
    for (const kind of readyKinds(file)) kinds.push(await discoverKind(source, file, kind, isUsable));
  return kinds;
}

async function discoverKind(source: Source, file: string, kind: ListedKind, isUsable: boolean) {
  const showing = await askForKind(source, kind);
  const { records, meta } = showing.list ?? { records: [], meta: null };
  const fields = new Set(records.flatMap((record) => (isObject(record) ? Object.keys(record) : [])));
  const isThere = showing.list !== null;
  const isCounted = meta !== null && (meta.total ?? meta.lastPage) !== null;
  return {
    kind: kind.name,
    /** The ready file that declares it, for `includeKinds`. */
    file,
    path: kind.list.path,
    /** `there`, `refused`, `not there`, `of another shape`, or `unknown` where the service failed. */
    answer: isThere || isUsable ? showing.answer : 'unknown',
    /** Why it is not there; null if it is. */
    detail: isThere ? null : showing.detail,
    /** How many records the page has, and which fields. */
    rows: isThere ? records.length : null,
    fields: [...fields],
    /** The statuses on the page, which `reports` may count. */
    statuses: [...new Set(records.flatMap((record) => statusOf(record) ?? []))],
    /** How the list is paged, by its answer. */
    paging: isThere ? describePaging(meta) : null,
    /** Whether a pull can prove that the mirror has exactly this list: `yes`, `slowly`, or `no`. */
    certifiable: !isThere ? null : !showing.hasIds ? 'no' : isCounted ? 'yes' : 'slowly',
  };
}

const statusOf = (record: Json): string | null =>
  isObject(record) && record['status'] !== undefined && record['status'] !== null
    ? plainJson(record['status'])
    : null;

function describePaging(meta: Awaited<ReturnType<Source['probe']>>['meta']): string {
  const { perPage = null, lastPage = null, total = null } = meta ?? {};
  const parts = [
    ...(perPage === null ? [] : [`${perPage} per page`]),
    ...(lastPage === null ? [] : [`last page ${lastPage}`]),
    ...(total === null ? [] : [`${total} rows`]),
  ];
  return parts.length === 0 ? 'the answer does not report its length' : parts.join(', ');
}

/** Writes some lines per kind, then the setting that includes them. */
export function* discoveryLines(found: readonly DiscoveredKind[]): Iterable<string> {
  for (const { kind, path, answer, detail, ...shown } of found) {
    yield `${kind} (${path}): ${answer}${detail === null ? '' : `: ${detail}`}`;
    if (answer !== 'there') continue;
    yield `     ${shown.paging ?? ''}; ${CERTIFIABLE[shown.certifiable ?? ''] ?? ''}`;
    yield `     fields: ${shown.fields.join(', ') || 'none yet, the list is empty'}`;
    if (shown.statuses.length > 0) yield `     statuses: ${shown.statuses.join(', ')}`;
  }
  const files = [...new Set(found.flatMap(({ answer, file }) => (answer === 'there' ? [file] : [])))];
  if (files.length > 0)
    yield `To pull what is there: includeKinds: [${files.join(', ')}]. The other kinds stay off.`;
}

const CERTIFIABLE: Readonly<Record<string, string>> = {
  yes: 'can be certified',
  slowly: 'can be certified once a pull has read beyond its end',
  no: 'cannot be certified: some records have no usable id',
};
