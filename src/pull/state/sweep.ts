import type { Kind } from '../../catalog/kind.ts';
import type { SeenField } from '../../diff/observe-fields.ts';
import type { KindLease } from '../../mirror/kinds/kind-lease.ts';
import type { StoredPage } from '../../mirror/sightings/page-store.ts';
import type { SourceClaim } from '../../mirror/kinds/source-binding.ts';
import type { KindTenants } from '../../mirror/kinds/tenant-store.ts';
import type { EarlierSightings } from './earlier-sightings.ts';
import type { LayeredSet } from './layered-set.ts';
import type { Ticks } from './ticks.ts';
import type { Touched } from './touched.ts';

/** What stays the same for all pages of a sweep, and what landing learns on the way. */
export interface Sweep {
  readonly kind: Kind;
  readonly lease: KindLease;
  readonly runId: number;
  readonly claim: SourceClaim;
  readonly tenants: KindTenants;
  readonly ticks: Ticks;
  /** The tick at which it began, which names it; null where only some pages are read. */
  readonly began: number | null;
  /** Pages of this list have had holes: only an empty page ends it. */
  readonly hasHoles: boolean;
  /** Live rows before the sweep. */
  readonly knownRows: number;
  /** Names the token, the decoder and the settings under which a page may go unparsed. */
  readonly salt: string;
  /** Fields whose changes are no events. */
  readonly ignoredFields: ReadonlySet<string>;
  /** What the pages showed when they were landed last; landing leaves it alone. */
  readonly pages: ReadonlyMap<number, StoredPage>;
  /** Rows written again since the oldest of these pages was landed; landing adds to it. */
  readonly touched: Touched;
  /** What list responses had shown before this sweep. */
  readonly earlier: EarlierSightings;
  /** Whether columns are compared with what their records decode to: something else may have written into them. */
  readonly comparesColumns: boolean;
  /** Ids that a write of ours is about to change, or has changed unseen; every landing reads them anew. */
  readonly sending: ReadonlySet<string>;
  /** The latest request whose response has landed in this sweep. */
  readonly newest: { sent: number };
  /** What the fields have shown so far; landing adds to it. */
  readonly fields: Map<string, SeenField>;
  /** Keys of the open issues about whole records; landing adds to it. */
  readonly quarantined: LayeredSet;
}
