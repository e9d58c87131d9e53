import { askableKind } from '../../catalog/kind.ts';
import type { RetrievableKind } from '../../catalog/kind.ts';
import { isThere } from './ask-for-absent.ts';
import type { PullParts } from '../run/parts.ts';
import type { Sweep } from '../state/sweep.ts';

export const MOST_CONTROL_FAILURES = 3;

/** How records of a kind can be retrieved one by one. */
export interface WayToAsk {
  /** Null if retrieving can prove nothing in this sweep. */
  readonly path: { readonly kind: RetrievableKind; readonly control: string } | null;
  /** Records of the kind can be retrieved, even if this sweep has shown none that could be the control. */
  readonly isUsable: boolean;
  readonly failures: number;
}

/** A path that failed in three sweeps is tried with the control first, because it may work again. */
export async function wayToAsk(
  parts: PullParts,
  { kind, lease, ticks }: Sweep,
  control: string | null,
): Promise<WayToAsk> {
  const [askable, failures] = [askableKind(kind), lease.controlFailures];
  const hasFailed = failures >= MOST_CONTROL_FAILURES;
  if (askable === null || control === null)
    return { path: null, isUsable: askable !== null && !hasFailed, failures };
  const path = { kind: askable, control };
  if (!hasFailed) return { path, isUsable: true, failures };
  const isMended = (await isThere(parts, { kind: askable, id: control, ticks })) === true;
  return { path: isMended ? path : null, isUsable: isMended, failures: isMended ? 0 : failures };
}
