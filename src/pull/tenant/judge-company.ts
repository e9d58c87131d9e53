import type { Kind } from '../../catalog/kind.ts';
import { isNumber, isObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import type { SourceClaim } from '../../mirror/kinds/source-binding.ts';
import { namesCompany } from '../../mirror/kinds/tenant-store.ts';
import type { KindTenants } from '../../mirror/kinds/tenant-store.ts';
import { OtherSourceError } from '../../mirror/session/errors.ts';
import type { ListResponse } from '../../source/paging/sweep.ts';

/** The companies that a kind's records may name. */
export interface CompaniesOfKind {
  readonly kind: Kind;
  readonly tenants: KindTenants;
}

/**
 * Refuses a response that mostly names other companies than the kind's. While no company is known, those that it names
 * are learned.
 *
 * @returns Whether it names a known company.
 * @throws {OtherSourceError}
 */
export function requireCompany(
  { kind, tenants }: CompaniesOfKind,
  { isKnown: isSame, read }: Pick<ListResponse, 'isKnown' | 'read'>,
): boolean {
  if (!namesCompany(kind)) return false;
  if (isSame) return true;
  if (tenants.isLearning) {
    for (const company of companiesOf(read())) tenants.companies.add(company);
    return false;
  }
  const named = countCompanies(read(), tenants.companies);
  const judgement = judgeCompany(named);
  if (judgement === 'other') throw tenantMismatch({ kind, tenants }, [...named.others.keys()]);
  return judgement === 'own';
}

/** Whether the token is known to read a company of this mirror, now that a response has shown one or not. */
export function isCompanyConfirmed(claim: SourceClaim, isShown: boolean): boolean {
  claim.isConfirmed ||= isShown;
  return claim.isNew || claim.isConfirmed;
}

const NAMED = 3;

function tenantMismatch(
  { kind: { name }, tenants: { companies } }: CompaniesOfKind,
  got: readonly string[],
): OtherSourceError {
  const listed = (ids: Iterable<string>): string => [...ids].slice(0, NAMED).join(', ');
  const message = `The list of ${name}: the token reads company ${listed(got)} (system_id), and this mirror holds company ${listed(companies)}.`;
  return otherCompany(message);
}

const HINT =
  'Use the token of the right company, or set DATABASE_URL to a mirror of its own; --new-source accepts the change.';

export function otherCompany(message: string): OtherSourceError {
  return new OtherSourceError(message, { code: 'mirror.other_source', hint: HINT });
}

/** The companies (`system_id`) that records name: the known ones and the others, each with its number of records. */
interface NamedCompanies {
  readonly own: number;
  readonly others: ReadonlyMap<string, number>;
}

export function countCompanies(records: readonly Json[], known: ReadonlySet<string>): NamedCompanies {
  const others = new Map<string, number>();
  let own = 0;
  for (const company of companiesOf(records)) {
    if (known.has(company)) own += 1;
    else others.set(company, (others.get(company) ?? 0) + 1);
  }
  return { own, others };
}

/**
 * Judges by majority whose records these are; null where none names a company.
 *
 * One foreign record among many is left to the service; one shared record among many foreign ones does not make a list ours.
 */
export function judgeCompany({ own, others }: NamedCompanies): 'own' | 'other' | null {
  const foreign = [...others.values()].reduce((sum, count) => sum + count, 0);
  if (own + foreign === 0) return null;
  return own >= foreign ? 'own' : 'other';
}

/** The company of each record that names one. */
function companiesOf(records: readonly Json[]): readonly string[] {
  return records.map(companyOf).filter((company) => company !== null);
}

function companyOf(record: Json): string | null {
  const company = isObject(record) ? record['system_id'] : null;
  return isNumber(company) || typeof company === 'string' ? String(company) : null;
}
