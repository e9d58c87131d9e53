import type { JsonObject } from '../../lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';

/** The kinds that other users change in the demo. */
export const CHANGED_KINDS = ['clients', 'products'] as const;

const PHONES = ['(418) 555-0142', '(514) 555-0117', '(819) 555-0163', '(450) 555-0128'];
const GARAGES = ['Garage Beaupré', 'Carrosserie Lévis', 'Pneus du Fleuve', 'Mécanique Sept-Îles'];
const PRICES = ['64.9500', '129.0000', '18.2500', '349.9900'];

/** Another user's work in the service's own screens: one edit, one new client, one client deleted. */
export function changeThree(world: World): void {
  const [edited, deleted] = [at(world, 'clients', 11), at(world, 'clients', 42)];
  world.update('clients', edited, { phone: '(418) 555-0199' });
  world.insert('clients', newClient(0));
  world.remove('clients', deleted);
}

/** The steps that are taken again and again once the story is over. */
const STEPS: readonly ((world: World, step: number) => void)[] = [
  (world, step) => world.update('clients', at(world, 'clients', step * 7), { phone: of(PHONES, step) }),
  (world, step) => world.update('products', at(world, 'products', step * 5), { price: of(PRICES, step) }),
  (world, step) => world.insert('clients', newClient(step)),
  (world, step) => world.update('clients', at(world, 'clients', step * 3), { phone: of(PHONES, step + 1) }),
  (world, step) => {
    world.remove('clients', at(world, 'clients', step * 11));
  },
];

/** One change after the other, from step 1; what happens follows from the number of the step. */
export function changeOne(world: World, step: number): void {
  STEPS[step % STEPS.length]?.(world, step);
}

function newClient(step: number): JsonObject {
  return { code: `NEW-${step + 1}`, name: `${of(GARAGES, step)} inc.`, phone: of(PHONES, step) };
}

const of = (texts: readonly string[], step: number): string => texts[step % texts.length] ?? '';

/** The id at a place of the list, counted round. */
function at(world: World, kind: string, place: number): number {
  const ids = world.ids(kind);
  return ids[place % ids.length] ?? 0;
}
