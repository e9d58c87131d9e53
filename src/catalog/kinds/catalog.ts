import { isListed, type Kind, type ListedKind } from '../kind.ts';
import { bookings } from './bookings.ts';
import { categories } from './categories.ts';
import { clients } from './clients.ts';
import { departments } from './departments.ts';
import { products } from './products.ts';
import { projects } from './projects.ts';
import { providers } from './providers.ts';
import { punches } from './punches.ts';
import { purchaseProducts } from './purchase-products.ts';
import { salesProducts } from './sales-products.ts';
import { vehicleBrands } from './vehicle-brands.ts';

/** Every record kind, in the order in which reports show them. */
export const KINDS: readonly Kind[] = [
  projects,
  clients,
  providers,
  purchaseProducts,
  categories,
  products,
  punches,
  vehicleBrands,
  departments,
  bookings,
  salesProducts,
];

/** The kinds that `pull` sweeps: all that have a list. */
export const LISTED_KINDS: readonly ListedKind[] = KINDS.filter(isListed);

export function documentedKind(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.name === name);
}
