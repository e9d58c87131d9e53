import type { JsonObject } from '../../lib/json.ts';
import { CATEGORIES, DEPARTMENTS } from '../vocabulary/trade.ts';
import type { Draw } from './draw.ts';

const FIRST_BRANCH = 3;

/** A part of the company (§2.10); `categories` are ids as text, or null for all. */
export function generateDepartment({ random, id, index, company }: Draw): JsonObject {
  const first = index * 4;
  const categoryIds = CATEGORIES.slice(first, first + 4).map((_, at) =>
    company.idOf('categories', first + at),
  );
  return {
    id,
    branch_id: FIRST_BRANCH + (index % 2),
    name: DEPARTMENTS[index] ?? random.pick(DEPARTMENTS),
    categories: index % 3 === 2 ? null : categoryIds.join(','),
    use_default: index === 0 ? 1 : 0,
    system_id: company.systemId,
  };
}
