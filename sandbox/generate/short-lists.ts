import type { JsonObject } from '../../src/lib/json/json.ts';
import { slug, withoutAccents } from './text-values.ts';
import { BRANDS, CATEGORIES, DEPARTMENTS } from './vocabulary.ts';
import type { Draw } from './draw.ts';

/** A category of parts or services (§2.6), with the further fields that were seen in the wild. */
export function generateCategory({ random, id, index }: Draw): JsonObject {
  const { code, french, english, type } = CATEGORIES[index] ?? random.pick(CATEGORIES);
  return {
    id,
    code,
    name_fr: french,
    name_en: english,
    status: random.chance(0.9) ? 1 : 0,
    sync_web: random.chance(0.5) ? 1 : 0,
    img_paths: type === 'piece' ? [`categories/${slug(french)}.jpg`] : [],
    category_type: type,
  };
}

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

/** A make of vehicles; the documentation shows none of its fields (§2.9). */
export function generateVehicleBrand({ random, id, index }: Draw): JsonObject {
  const name = BRANDS[index] ?? random.pick(BRANDS);
  return { id, code: withoutAccents(name).slice(0, 4).trim().toUpperCase(), name, active: 1 };
}
