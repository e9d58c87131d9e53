import type { JsonObject } from '../../lib/json.ts';
import { CATEGORIES } from '../vocabulary/trade.ts';
import { slug } from '../vocabulary/words.ts';
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
