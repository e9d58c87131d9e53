import { LISTED_KINDS } from '../../catalog/kinds/catalog.ts';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/compare-page.ts';
import { isNumber, isObject, type Json } from '../../lib/json/json.ts';
import { OtherSourceError } from '../../db/session/errors.ts';
import { hasCompanyField, readCompanies, type SourceBinding, type KindCompanies } from '../source-binding.ts';
import { hasMoreLiveRows } from '../../store/kinds/status-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../parts.ts';
import type { KindReading } from '../reading.ts';
import type { Session } from '../../db/session/session.ts';

type ServiceParts = Pick<PullParts, 'session' | 'source' | 'signal'>;

/** This few rows may all have been replaced; if there are more, a list that shares none of them is another company's. */
const ROWS_THAT_IDENTIFY = 20;
/** After this many pages without a known row, the list belongs to another company. */
const PAGES_HELD_BACK = 50;

/**
 * Passes the responses of a list on once they are known to belong to a company of this mirror, so that nothing foreign
 * lands.
 *
 * Most records of a response must name one of the kind's companies. If the kind has enough rows, one record must also
 * be known, of each holder of a token anew: behind the pages of another one, a list that names a known company will do.
 * @throws {OtherSourceError} Before any record of the foreign list has landed.
 */
export async function* holdUntilRecognized(
  parts: ServiceParts,
  responses: AsyncIterable<ListResponse>,
  { binding, companies }: Pick<KindReading, 'binding' | 'companies'>,
): AsyncGenerator<ListResponse> {
  const { session } = parts;
  const { kind } = companies;
  const isFree = binding.isNew || !(await hasMoreLiveRows(session, kind, ROWS_THAT_IDENTIFY));
  const recognized = new Set<string>();
  const isOurs = async (response: ListResponse): Promise<boolean> => {
    const { holder } = response;
    if (isFree || recognized.has(holder)) return true;
    if (await isKnown(session, kind, response)) binding.confirmed.add(holder);
    else if (recognized.size === 0) return false;
    else await confirmCompany(parts, binding, holder);
    return binding.confirmed.has(holder);
  };
  let heldResponses: ListResponse[] = [];
  for await (const response of responses) {
    const hasOwnCompany = requireCompany(companies, response);
    heldResponses.push(response);
    if (await isOurs(response)) recognized.add(response.holder);
    if (heldResponses.every(({ holder }) => recognized.has(holder))) {
      if (hasOwnCompany) binding.confirmed.add(response.holder);
      await confirmCompany(parts, binding, response.holder);
      yield* heldResponses;
      heldResponses = [];
    } else if (heldResponses.length > PAGES_HELD_BACK) break;
  }
  const [firstHeld] = heldResponses;
  if (firstHeld === undefined) return;
  const shown = heldResponses.reduce((sum, response) => sum + recordIdsOf(response.read()).length, 0);
  if (shown > 0)
    throw otherCompanyError(
      `The list of ${kind} shows ${shown} ids, and this mirror has none of them: the list belongs to another company (the mirror has more than ${ROWS_THAT_IDENTIFY} live rows).`,
    );
  await confirmCompany(parts, binding, firstHeld.holder);
  yield* heldResponses; // An emptied list, or one whose records lost their ids, is a reading like any other.
}

/** Passes responses whose records name the kind's companies, if any; whether the mirror knows the records does not matter. */
export async function* requireCompanies(
  responses: AsyncIterable<ListResponse>,
  companies: KindCompanies,
): AsyncGenerator<ListResponse> {
  for await (const response of responses) {
    requireCompany(companies, response);
    yield response;
  }
}

/**
 * Confirms the company for a list that does not name it: by other lists of this run, else by the first page of a kind
 * that names its company. If the token may read none of those, the question stays open.
 * @param holder Of its token; null = before its first page.
 * @throws {OtherSourceError}
 */
export async function confirmCompany(parts: ServiceParts, binding: SourceBinding, holder: string | null) {
  const { isNew, confirmed, companyReads } = binding;
  const isConfirmed = (): boolean => (holder === null ? confirmed.size > 0 : confirmed.has(holder));
  if (isNew || isConfirmed()) return;
  const read = companyReads.get(holder ?? '') ?? readCompany(parts, binding, isConfirmed);
  companyReads.set(holder ?? '', read);
  await read;
  if (!isConfirmed() && binding.refusal !== null) throw binding.refusal;
}

async function readCompany(parts: ServiceParts, binding: SourceBinding, isConfirmed: () => boolean) {
  const isShort = (kind: Kind): number => Number(kind.name === 'departments');
  for (const kind of LISTED_KINDS.filter(hasCompanyField).toSorted((a, b) => isShort(b) - isShort(a))) {
    const companies = await readCompanies(parts.session, kind, false);
    if (!companies.isLearning) await readFirstPage(parts, kind, { binding, companies });
    if (isConfirmed()) return; // Maybe by the list of another kind.
  }
}

/** Confirms the holder whose token reads the first page of a kind, if it names a company of the mirror. */
async function readFirstPage(
  { source, signal }: ServiceParts,
  kind: ListedKind,
  { binding, companies }: Pick<KindReading, 'binding' | 'companies'>,
): Promise<void> {
  try {
    const pages = source.pages(kind, { from: 1, to: 1 }, { signal });
    for await (const response of pages)
      if (requireCompany(companies, response)) binding.confirmed.add(response.holder);
  } catch (error) {
    if (error instanceof OtherSourceError) binding.refusal ??= error;
    else if (!(error instanceof SourceError)) throw error;
  }
}

async function isKnown(session: Session, kind: string, response: ListResponse): Promise<boolean> {
  if (response.isUnchanged) return true; // Records shown before belong to the same company.
  const ids = recordIdsOf(response.read());
  return (await session.atomically((tx) => tx.readRowsById(kind, ['id'], ids))).size > 0;
}

function recordIdsOf(records: readonly Json[]): string[] {
  return records.map(recordId).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}

/** Puts kinds whose lists name the company first: their answers decide for the others. */
export async function sortKindsByCompany(
  session: Session,
  kinds: readonly ListedKind[],
): Promise<ListedKind[]> {
  const ranks: ListedKind[][] = [[], [], [], []];
  for (const kind of kinds) {
    const { areNamed, isLearning } = await readCompanies(session, kind, false);
    let rank = areNamed ? 2 : 3;
    if (areNamed && !isLearning) rank = 0;
    else if (await hasMoreLiveRows(session, kind.name, ROWS_THAT_IDENTIFY)) rank = 1;
    ranks[rank]?.push(kind);
  }
  return ranks.flat();
}

/**
 * Refuses a response that mostly names other companies than the kind's. While no company is known, the companies that it names
 * are learned.
 * @returns Whether it names a known company.
 * @throws {OtherSourceError}
 */
export function requireCompany(
  { kind, areNamed, isLearning, ids }: KindCompanies,
  response: { readonly isUnchanged: boolean; readonly read: () => readonly Json[] },
): boolean {
  if (!areNamed) return false;
  if (response.isUnchanged) return true;
  const named = companiesOf(response.read());
  if (isLearning) {
    for (const company of named) ids.add(company);
    return false;
  }
  const owner = judgeCompany(named, ids);
  if (owner === 'other') {
    const listed = (companies: Iterable<string>): string =>
      [...companies].slice(0, COMPANIES_SHOWN).join(', ');
    const others = [...new Set(named)].filter((company) => !ids.has(company));
    throw otherCompanyError(
      `The list of ${kind}: the token reads company ${listed(others)} (system_id), and this mirror holds company ${listed(ids)}.`,
    );
  }
  return owner === 'own';
}

const COMPANIES_SHOWN = 3;

function otherCompanyError(message: string): OtherSourceError {
  const hint =
    'Use the token of the right company, or set DATABASE_URL to a separate mirror; --new-source accepts the change.';
  return new OtherSourceError(message, { code: 'mirror.other_source', hint });
}

/**
 * Judges by majority whose records name these companies; null where none is named.
 *
 * One foreign record among many is left to the service; one shared record among many foreign ones does not make a list ours.
 */
export function judgeCompany(named: readonly string[], known: ReadonlySet<string>): 'own' | 'other' | null {
  if (named.length === 0) return null;
  const own = named.filter((company) => known.has(company)).length;
  return 2 * own >= named.length ? 'own' : 'other';
}

/** The companies (`system_id`) that records name, one for each record that names one. */
export function companiesOf(records: readonly Json[]): readonly string[] {
  return records.flatMap((record) => {
    const company = isObject(record) ? record['system_id'] : null;
    return isNumber(company) || typeof company === 'string' ? [String(company)] : [];
  });
}
