import type { JsonObject } from '../../lib/json.ts';
import { BRANDS } from '../vocabulary/trade.ts';
import { withoutAccents } from '../vocabulary/words.ts';
import type { Draw } from './draw.ts';

/** A make of vehicles; the documentation shows none of its fields (§2.9). */
export function generateVehicleBrand({ random, id, index }: Draw): JsonObject {
  const name = BRANDS[index] ?? random.pick(BRANDS);
  return { id, code: withoutAccents(name).slice(0, 4).trim().toUpperCase(), name, active: 1 };
}
