import { askableKind } from '../../catalog/kind.ts';
import type { RetrievableKind } from '../../catalog/kind.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { PullParts } from '../run/parts.ts';
import type { Ticks, Sweep } from '../state/sweep.ts';

interface AbsentRecords {
  readonly kind: RetrievableKind;
  readonly ids: readonly string[];
  /** The control: a record that the sweep has just seen. A path proves other records gone only if it finds the control. */
  readonly control: string;
  readonly ticks: Ticks;
}

interface Answers {
  readonly gone: readonly string[];
  readonly there: readonly string[];
  /** Whether the control was found before and after; if not, the answers prove nothing, and there are none. */
  readonly isSound: boolean;
}

const UNSOUND: Answers = { gone: [], there: [], isSound: false };

/** Asks the service for records that its list no longer has. */
export async function askForAbsent(
  parts: PullParts,
  { kind, ids, control, ticks }: AbsentRecords,
): Promise<Answers> {
  const ask = (id: string): Promise<boolean | null> => isThere(parts, { kind, id, ticks });
  if ((await ask(control)) !== true) return UNSOUND;
  const answers = await Promise.all(ids.map(async (id) => ({ id, isThere: await ask(id) })));
  if ((await ask(control)) !== true) return UNSOUND;
  const those = (isThere: boolean) =>
    answers.filter((answer) => answer.isThere === isThere).map(({ id }) => id);
  return { gone: those(false), there: those(true), isSound: true };
}

/** Retrieves one record; null if the answer proves neither presence nor absence. */
async function isThere(
  { source, signal }: PullParts,
  { kind, id, ticks }: Pick<AbsentRecords, 'kind' | 'ticks'> & { readonly id: string },
): Promise<boolean | null> {
  try {
    const { record } = await source.retrieve(kind, id, { tick: ticks.next, ...(signal && { signal }) });
    return record !== null;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return null;
  }
}

export const MOST_CONTROL_FAILURES = 3;

/** How records of a kind can be retrieved one by one. */
export interface RetrievalMethod {
  /** Null if retrieving can prove nothing in this sweep. */
  readonly path: { readonly kind: RetrievableKind; readonly control: string } | null;
  /** Records of the kind can be retrieved, even if this sweep has shown none that could be the control. */
  readonly isUsable: boolean;
  readonly failures: number;
}

/** A path that failed in three sweeps is tried with the control first, because it may work again. */
export async function retrievalMethod(
  parts: PullParts,
  { kind, lease, ticks }: Sweep,
  control: string | null,
): Promise<RetrievalMethod> {
  const [askable, failures] = [askableKind(kind), lease.controlFailures];
  const hasFailed = failures >= MOST_CONTROL_FAILURES;
  if (askable === null || control === null)
    return { path: null, isUsable: askable !== null && !hasFailed, failures };
  const path = { kind: askable, control };
  if (!hasFailed) return { path, isUsable: true, failures };
  const isMended = (await isThere(parts, { kind: askable, id: control, ticks })) === true;
  return { path: isMended ? path : null, isUsable: isMended, failures: isMended ? 0 : failures };
}
