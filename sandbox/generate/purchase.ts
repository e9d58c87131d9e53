import type { JsonObject } from '../../src/lib/json/json.ts';
import { ITEMS, NOTES } from './vocabulary.ts';
import { anyId, type Draw, type Random } from './draw.ts';
import { dayOf, fixed, timeText } from './text-values.ts';

export const LINES_PER_PURCHASE = 3;
export const LINES_PER_SALE = 2;
const QUEBEC = 11;

/** A purchase (not in the documentation): its money is that of the lines which name it. */
export function generatePurchase(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const first = index * LINES_PER_PURCHASE;
  const length = Math.min(LINES_PER_PURCHASE, company.count('purchase_products') - first);
  let subtotal = 0;
  let taxes = 0;
  for (let at = 0; at < length; at++) {
    const { total } = orderedLine(company.randomOf('purchase_products', first + at));
    const { gst, qst } = taxCents(total);
    subtotal += total;
    taxes += gst + qst;
  }
  const day = company.dateOf(dayOf(draw));
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

/** A line of a purchase (§2.5): received and awaited parts add up to the quantity, and the amounts of money are consistent. */
export function generatePurchaseProduct(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const { item, cents, hundredths, discount, total } = orderedLine(random);
  const received = random.chance(0.7) ? hundredths : Math.floor(hundredths / 200) * 100;
  const grams = (of: number): string => fixed((item.grams * of) / 100, 3);
  const { gst, qst } = taxCents(total);
  return {
    id,
    purchase_id: company.idOf('purchases', Math.floor(index / LINES_PER_PURCHASE)),
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
    // JSON text inside a string, as the service sends it (§2.5).
    gestion_taxes: JSON.stringify([
      { id: 1, nom: 'TPS', taux: '5.000', montant: fixed(gst, 2) },
      { id: 2, nom: 'TVQ', taux: '9.975', montant: fixed(qst, 2) },
    ]),
    province_id: QUEBEC,
    system_id: company.systemId,
  };
}

/** A line's quantity and cost, in cents; drawn first, so that its purchase can draw the same values again. */
function orderedLine(random: Random) {
  const item = random.pick(ITEMS);
  const isHalf = random.chance(0.1); // Half a unit needs an even price, or the total would need half a cent.
  const exactCents = Math.round((item.cents * random.integer(85, 115)) / 100);
  const cents = isHalf ? exactCents - (exactCents % 2) : exactCents;
  const hundredths = random.integer(1, 12) * 100 + (isHalf ? 50 : 0);
  const gross = (hundredths * cents) / 100;
  const discount = random.chance(0.15) ? Math.floor(gross / 20) : 0;
  return { item, cents, hundredths, discount, total: gross - discount };
}

function taxCents(total: number): { readonly gst: number; readonly qst: number } {
  return { gst: Math.round(total * 0.05), qst: Math.round(total * 0.09975) };
}

/** A line of a sale: in the wild it looks like a purchase's, but belongs to a sale (§4.4). */
export function generateSalesProduct(draw: Draw): JsonObject {
  const line = Object.entries(generatePurchaseProduct(draw)).filter(([name]) => name !== 'purchase_id');
  return {
    ...Object.fromEntries(line),
    sale_id: draw.company.idOf('sales', Math.floor(draw.index / LINES_PER_SALE)),
    produit_compte: '4010',
  };
}

/** A sale (not in the documentation): its money is that of the lines which name it, as of a purchase. */
export function generateSale(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const subtotal = saleCents(company, index);
  const { gst, qst } = taxCents(subtotal);
  const day = dayOf(draw);
  return {
    id,
    code: `F${String(index + 1).padStart(6, '0')}`,
    client_id: random.chance(0.05) ? 0 : anyId(draw, 'clients'),
    vehicle_id: random.chance(0.4) ? 0 : anyId(draw, 'vehicles'),
    date: company.dateOf(day),
    due_date: company.dateOf(day + 30),
    status: random.pick(['invoice', 'invoice', 'invoice', 'quote']),
    subtotal: fixed(subtotal, 2),
    taxes: fixed(gst + qst, 2),
    total: fixed(subtotal + gst + qst, 2),
    branch_id: 3 + (index % 2),
    system_id: company.systemId,
  };
}

/** A payment of a sale, of all of it or of half; some sales have none. */
export function generatePayment(draw: Draw): JsonObject {
  const { random, id, company } = draw;
  const index = random.integer(0, company.count('sales') - 1);
  const subtotal = saleCents(company, index);
  const { gst, qst } = taxCents(subtotal);
  return {
    id,
    invoice_id: company.idOf('sales', index),
    method_id: random.integer(1, 4),
    amount: fixed(Math.floor((subtotal + gst + qst) / random.integer(1, 2)), 2),
    date_payment: company.dateOf(dayOf(draw)),
    system_id: company.systemId,
  };
}

function saleCents(company: Draw['company'], index: number): number {
  const lines = Array.from({ length: LINES_PER_SALE }, (_, at) => index * LINES_PER_SALE + at);
  const ofCompany = lines.filter((line) => line < company.count('sales_products'));
  return ofCompany.reduce(
    (sum, line) => sum + orderedLine(company.randomOf('sales_products', line)).total,
    0,
  );
}
