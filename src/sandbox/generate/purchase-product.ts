import type { JsonObject } from '../../lib/json.ts';
import type { Random } from '../random.ts';
import { ITEMS, NOTES } from '../vocabulary/trade.ts';
import { anyId } from './draw.ts';
import type { Draw } from './draw.ts';
import { fixed } from './text-values.ts';

const LINES_PER_PURCHASE = 3;
const FIRST_PURCHASE = 4101;
const QUEBEC = 11;

/** A line of a purchase (§2.5): what came and what is awaited make the quantity, and the money adds up. */
export function generatePurchaseProduct(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const item = random.pick(ITEMS);
  const { cents, hundredths, discount, total } = sumOf(random, item.cents);
  const received = random.chance(0.7) ? hundredths : Math.floor(hundredths / 200) * 100;
  const grams = (of: number): string => fixed((item.grams * of) / 100, 3);
  return {
    id,
    purchase_id: FIRST_PURCHASE + Math.floor(index / LINES_PER_PURCHASE),
    product_id: String(anyId(draw, 'products')),
    produit_compte: random.pick(['5010', '5020', '5100', '01450']),
    product_name: item.french,
    product_description: random.chance(0.3) ? `${random.pick(NOTES)}.` : '',
    produit_projet: random.chance(0.25) ? anyId(draw, 'projects') : null,
    product_quantity: fixed(hundredths, 2),
    produit_quantite_receive: fixed(received, 2),
    produit_quantite_onhold: fixed(hundredths - received, 2),
    produit_poids: grams(hundredths),
    produit_poids_receive: grams(received),
    produit_poids_onhold: grams(hundredths - received),
    product_price: fixed(cents * 100, 4),
    product_discount: fixed(discount, 2),
    product_serialnumber: random.chance(0.15) ? `SN${random.digits(8)}` : '',
    produit_total: fixed(total, 2),
    taxes_rules_id: 1,
    gestion_taxes: taxesOn(total),
    province_id: QUEBEC,
    system_id: company.systemId,
  };
}

function sumOf(
  random: Random,
  listCents: number,
): { cents: number; hundredths: number; discount: number; total: number } {
  const isHalf = random.chance(0.1); // Half a unit needs an even price, or the total would need half a cent.
  const exactCents = Math.round((listCents * random.integer(85, 115)) / 100);
  const cents = isHalf ? exactCents - (exactCents % 2) : exactCents;
  const hundredths = random.integer(1, 12) * 100 + (isHalf ? 50 : 0);
  const gross = (hundredths * cents) / 100;
  const discount = random.chance(0.15) ? Math.floor(gross / 20) : 0;
  return { cents, hundredths, discount, total: gross - discount };
}

/** JSON text inside a string, as the service sends it (§2.5). */
function taxesOn(total: number): string {
  return JSON.stringify([
    { id: 1, nom: 'TPS', taux: '5.000', montant: fixed(Math.round(total * 0.05), 2) },
    { id: 2, nom: 'TVQ', taux: '9.975', montant: fixed(Math.round(total * 0.09975), 2) },
  ]);
}
