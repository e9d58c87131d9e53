import type { JsonObject } from '../../lib/json.ts';
import type { Draw } from './draw.ts';
import { generatePurchaseProduct } from './purchase-product.ts';

const FIRST_SALE = 20_500;
const LINES_PER_SALE = 2;

/** A line of a sale: in the wild it looks like a purchase's, but belongs to a sale (§4.4). */
export function generateSalesProduct(draw: Draw): JsonObject {
  const line = Object.entries(generatePurchaseProduct(draw)).filter(([name]) => name !== 'purchase_id');
  return {
    ...Object.fromEntries(line),
    sale_id: FIRST_SALE + Math.floor(draw.index / LINES_PER_SALE),
    produit_compte: '4010',
  };
}
