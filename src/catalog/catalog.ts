import { isListed } from './kind.ts';
import type { Kind, ListedKind } from './kind.ts';
import { bookings } from './kinds/bookings.ts';
import { categories } from './kinds/categories.ts';
import { clients } from './kinds/clients.ts';
import { departments } from './kinds/departments.ts';
import { products } from './kinds/products.ts';
import { projects } from './kinds/projects.ts';
import { providers } from './kinds/providers.ts';
import { punches } from './kinds/punches.ts';
import { purchaseProducts } from './kinds/purchase-products.ts';
import { salesProducts } from './kinds/sales-products.ts';
import { vehicleBrands } from './kinds/vehicle-brands.ts';

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

export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.name === name);
}
