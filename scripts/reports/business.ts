import { joinKinds, readyKinds } from '../../src/catalog/declared-kinds.ts';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isListed, type ListedKind } from '../../src/catalog/kind.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import type { Session } from '../../src/db/session/session.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import { pullKinds } from '../../src/pull/sweep/pull-kinds.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { World } from '../../sandbox/world.ts';
import { openSource } from '../../src/source/source.ts';
import { SOURCE_SETTINGS } from '../../test/support/source-settings.ts';
import { fakeClock } from '../../test/support/fake-clock.ts';
import { KEEP_ALL } from '../../test/support/retention.ts';

const logger = createLogger({ level: 'silent', secrets: [], destination: { write: () => undefined } });
const DAY_MS = 86_400_000;

/** The kinds in which people work. */
const CHANGED = ['clients', 'products', 'bookings'];

/** The kinds of a mirror that includes the shop's. */
export const SHOP_KINDS: readonly ListedKind[] = joinKinds(KINDS, readyKinds('shop')).filter(isListed);

/** The first day of the story: that on which the sandbox's records end. */
export const FIRST_DAY = '2025-09-28';

/** How many records of each sort of change people made on a day. */
export interface DayOfWork {
  readonly day: string;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly restored: number;
  /** The prices of products that were changed, as texts. */
  readonly prices: readonly PriceChange[];
}

interface PriceChange {
  readonly id: number;
  readonly from: Json | undefined;
  readonly to: string;
}

interface Reading {
  readonly instant: string;
  /** Those of the mirrors. */
  readonly known?: readonly ListedKind[];
  /** All of them where none are named. */
  readonly kinds: readonly string[];
}

/** Reads lists of a sandbox into mirrors, by a clock that stands at an instant. */
export async function read(
  { url, token }: Sandbox,
  mirrors: readonly Session[],
  { instant, known = LISTED_KINDS, kinds: names }: Reading,
): Promise<void> {
  const kinds = known.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const session of mirrors) {
    const clock = fakeClock(instant);
    await using source = openSource({ ...SOURCE_SETTINGS, baseUrl: url, token }, { clock, logger });
    const report = await pullKinds(
      { session, source, clock, logger, owner: THIS_PROCESS },
      {
        kinds,
        baseUrl: url,
        acceptNewSource: false,
        repeatBelowPages: 20,
        ignoreFields: {},
        retention: KEEP_ALL,
        deletions: { graceSeconds: 0, holdAbove: { rows: 5, share: 0.02 } },
      },
    );
    const failed = report.kinds.filter(({ state }) => state !== 'certified' && state !== 'complete');
    const texts = failed.map(({ kind, state, reason }) => `${kind} ${state} (${reason ?? 'no reason'})`);
    if (texts.length > 0) throw new Error(`At ${instant} not read to the end: ${texts.join(', ')}.`);
  }
}

/**
 * Pulls a sandbox into mirrors, and again on each day while people work there.
 *
 * @returns The days with what was done on them, by the work itself and not by the mirrors.
 */
export async function liveThrough(
  sandbox: Sandbox,
  mirrors: readonly Session[],
  days: number,
  known = LISTED_KINDS,
): Promise<readonly DayOfWork[]> {
  await read(sandbox, mirrors, { instant: `${FIRST_DAY}T06:00:00Z`, kinds: [], known });
  await read(sandbox, mirrors, { instant: `${FIRST_DAY}T07:00:00Z`, kinds: CHANGED });
  const gone: JsonObject[] = [];
  const worked: DayOfWork[] = [];
  for (let number = 1; number <= days; number++) {
    const day = new Date(Date.parse(FIRST_DAY) + number * DAY_MS).toISOString().slice(0, 10);
    const work = workOn(sandbox.world, number, gone);
    worked.push({ day, ...work });
    await read(sandbox, mirrors, { instant: `${day}T00:30:00Z`, kinds: CHANGED });
    if (work.deleted === 0) continue;
    await read(sandbox, mirrors, { instant: `${day}T23:30:00Z`, kinds: ['clients'] }); // Proves what the first one suspects.
  }
  return worked;
}

/** Changes records whose months were closed, as people do after all, and reads them into the mirrors. */
export async function changeClosedMonths(
  sandbox: Sandbox,
  mirrors: readonly Session[],
  instant: string,
): Promise<void> {
  const { world } = sandbox;
  for (const [kind, date, money] of [
    ['bookings', 'pickup_date', 'price'],
    ['punches', 'date', 'ptotal'],
    ['sales', 'date', 'total'],
    ['purchases', 'date', 'total'],
  ] as const) {
    const closed = world.ids(kind).filter((id) => {
      const day = world.get(kind, id)?.[date];
      return typeof day === 'string' && day > '2025-04' && day < FIRST_DAY.slice(0, 7);
    });
    for (const [at, id] of closed.filter((_, at) => at % 9 === 0).entries())
      world.update(kind, id, { [money]: `${5 + at}.50` });
  }
  await read(sandbox, mirrors, {
    instant,
    kinds: ['bookings', 'punches', 'sales', 'purchases'],
    known: SHOP_KINDS,
  });
}

/** A day's work: more of it on some days than on others. What happens follows from the number of the day. */
function workOn(world: World, number: number, gone: JsonObject[]): Omit<DayOfWork, 'day'> {
  const busy = 3 + ((number * 5) % 7);
  const idOf = (kind: string, place: number): number => {
    const ids = world.ids(kind);
    return ids[(place * 7) % ids.length] ?? 0;
  };
  const prices = Array.from({ length: busy }, (_, step): PriceChange => {
    const at = number * 10 + step;
    const id = idOf('products', at);
    const from = world.get('products', id)?.['price'];
    const to = `${20 + at}.${10 + (at % 89)}00`;
    world.update('products', id, { price: to });
    return { id, from, to };
  });
  for (let step = 0; step < number % 3; step++)
    world.insert('bookings', {
      code: `R9${number}${step}`,
      client_id: idOf('clients', number + step),
      fact_number: null,
      pickup_date: '2025-10-15',
      price: `${100 + number}.25`,
      distance: '12.00',
      items: [],
    });
  const deletes = number % 4 === 1;
  if (deletes) {
    const id = idOf('clients', number * 3);
    gone.push(world.get('clients', id) ?? {});
    world.remove('clients', id);
  }
  const back = number % 4 === 3 ? gone.shift() : undefined;
  if (back !== undefined) world.insert('clients', back);
  return {
    created: number % 3,
    updated: busy,
    deleted: deletes ? 1 : 0,
    restored: back === undefined ? 0 : 1,
    prices,
  };
}
