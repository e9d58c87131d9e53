import type { RetrievableKind } from '../../catalog/kind.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { PullParts } from '../run/parts.ts';
import type { Ticks } from '../state/ticks.ts';

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
export async function isThere(
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
