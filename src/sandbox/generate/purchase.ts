import type { JsonObject } from '../../lib/json.ts';
import { NOTES } from '../vocabulary/trade.ts';
import { anyId } from './draw.ts';
import type { Draw } from './draw.ts';
import { LINES_PER_PURCHASE, orderedLine, taxCents } from './purchase-product.ts';
import { dayOf, dayText, fixed, timeText } from './text-values.ts';

/** A purchase (not in the documentation): its money is that of the lines which name it. */
export function generatePurchase(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const { subtotal, taxes } = sumOfLines(draw);
  const day = dayText(dayOf(draw));
  return {
    id,
    code: String(index + 1).padStart(6, '0'),
    provider_id: anyId(draw, 'providers'),
    date: day,
    status: random.pick(['ordered', 'received', 'received', 'invoiced']),
    currency: random.chance(0.9) ? 'CAD' : 'USD',
    subtotal: fixed(subtotal, 2),
    taxes: fixed(taxes, 2),
    total: fixed(subtotal + taxes, 2),
    note: random.chance(0.3) ? `${random.pick(NOTES)}.` : '',
    system_id: company.systemId,
    created_at: `${day} ${timeText(random.integer(480, 1020))}`,
  };
}

function sumOfLines({ index, company }: Draw): { readonly subtotal: number; readonly taxes: number } {
  const first = index * LINES_PER_PURCHASE;
  const length = Math.min(LINES_PER_PURCHASE, company.count('purchase_products') - first);
  const totals = Array.from(
    { length },
    (_, at) => orderedLine(company.randomOf('purchase_products', first + at)).total,
  );
  const taxes = totals.map(taxCents).map(({ gst, qst }) => gst + qst);
  return { subtotal: sum(totals), taxes: sum(taxes) };
}

const sum = (cents: readonly number[]): number => cents.reduce((total, one) => total + one, 0);
