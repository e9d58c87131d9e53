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

/** The fixed facts of a sweep, and the state that landing adds to. */
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
  readonly digestScope: string;
  /** Fields whose changes are no events. */
  readonly ignoredFields: ReadonlySet<string>;
  /** The pages as last landed; landing does not change it. */
  readonly pages: ReadonlyMap<number, StoredPage>;
  /** Rows that were rewritten since the oldest of these pages was landed; landing adds to it. */
  readonly touched: Touched;
  /** Sightings from before this sweep. */
  readonly earlier: EarlierSightings;
  /** Whether columns are compared with the decoding of their records: another writer may have altered them. */
  readonly comparesColumns: boolean;
  /** Ids that an outbox entry is changing, or has changed without an answer; every landing reads them again. */
  readonly sending: ReadonlySet<string>;
  /** The latest request whose response has landed in this sweep. */
  readonly newest: { sent: number };
  /** The fields' observed values so far; landing adds to it. */
  readonly fields: Map<string, SeenField>;
  /** Keys of the open issues about whole records; landing adds to it. */
  readonly quarantined: LayeredSet;
}
