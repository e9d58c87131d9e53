import { KINDS } from '../src/catalog/kinds/catalog.ts';
import { joinKinds, readyKinds } from '../src/catalog/declared-kinds.ts';
import type { Kind } from '../src/catalog/kind.ts';
import { hash, type Generate } from './generate/draw.ts';
import { generatorOf } from './generate/from-catalogue.ts';
import { generateClient, generateProvider } from './generate/parties.ts';
import { generateProduct } from './generate/product.ts';
import {
  LINES_PER_PURCHASE,
  LINES_PER_SALE,
  generatePayment,
  generatePurchase,
  generatePurchaseProduct,
  generateSale,
  generateSalesProduct,
} from './generate/purchase.ts';
import { generateCategory, generateDepartment, generateVehicleBrand } from './generate/short-lists.ts';
import { BRANDS, CATEGORIES, DEPARTMENTS } from './generate/vocabulary.ts';
import { generateBooking, generateProject, generatePunch } from './generate/work.ts';

/** The documented kinds, and those beyond the documentation that the live service has too. */
export const SERVED_KINDS: readonly Kind[] = joinKinds(KINDS, readyKinds('shop'));

/** The kind of this name; a name that the sandbox does not know is a bug. */
export function servedKind(name: string): Kind {
  const kind = SERVED_KINDS.find((served) => served.name === name);
  if (!kind) throw new TypeError(`The sandbox has no kind named ${name}.`);
  return kind;
}

interface KindSetup {
  /** How many records a company of `size` clients begins with. */
  readonly count: (size: number) => number;
  /**
   * Where its ids begin within the company's range. Kinds that a misprinted path mixes up share it, and so their
   * numbers: a punch and a category (§4.7), a purchase line and a sales line (§4.4).
   */
  readonly firstId: number;
  readonly generate: Generate;
}

const half = (size: number): number => Math.ceil(size / 2);
const double = (size: number): number => size * 2;

/** The kinds with a generator of their own, by their names. */
const KIND_SETUPS: Readonly<Record<string, KindSetup>> = {
  projects: { count: half, firstId: 1204, generate: generateProject },
  clients: { count: (size) => size, firstId: 3050, generate: generateClient },
  providers: { count: (size) => Math.max(3, Math.ceil(size / 10)), firstId: 410, generate: generateProvider },
  purchase_products: { count: double, firstId: 8800, generate: generatePurchaseProduct },
  categories: { count: () => CATEGORIES.length, firstId: 95, generate: generateCategory },
  products: { count: (size) => Math.max(10, size), firstId: 5120, generate: generateProduct },
  punches: { count: double, firstId: 95, generate: generatePunch },
  vehicle_brands: { count: () => BRANDS.length, firstId: 12, generate: generateVehicleBrand },
  departments: { count: () => DEPARTMENTS.length, firstId: 21, generate: generateDepartment },
  bookings: { count: half, firstId: 700, generate: generateBooking },
  purchases: {
    count: (size) => Math.ceil(double(size) / LINES_PER_PURCHASE),
    firstId: 4101,
    generate: generatePurchase,
  },
  sales_products: { count: double, firstId: 8800, generate: generateSalesProduct },
  sales: {
    count: (size) => Math.ceil(double(size) / LINES_PER_SALE),
    firstId: 20_500,
    generate: generateSale,
  },
  sales_payments: { count: (size) => size, firstId: 6100, generate: generatePayment },
  appointments: { count: (size) => size, firstId: 9001, generate: generatorOf(servedKind('appointments')) },
};

const FIRST_IDS = 10_000;

/** The plan of a kind. One without a generator of its own has a record for each client, drawn from its catalogue entry. */
export function kindSetup(name: string): KindSetup {
  const known = KIND_SETUPS[name];
  if (known !== undefined) return known;
  const firstId = 1 + (hash(name) % FIRST_IDS);
  return { count: (size) => size, firstId, generate: generatorOf(servedKind(name)) };
}
