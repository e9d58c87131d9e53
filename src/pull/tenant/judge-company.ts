import { isNumber, isObject } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';

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
export function companiesOf(records: readonly Json[]): readonly string[] {
  return records.map(companyOf).filter((company) => company !== null);
}

function companyOf(record: Json): string | null {
  const company = isObject(record) ? record['system_id'] : null;
  return isNumber(company) || typeof company === 'string' ? String(company) : null;
}
