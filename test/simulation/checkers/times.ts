import type { ChangeRow } from '../dump.ts';
import type { Recording } from '../recording.ts';
import { shown } from './events.ts';
import { violation } from './rows.ts';
import type { Violation } from './violation.ts';

/** Events whose numbers or instants go back, or that were first seen after they were seen. */
export function outOfOrder({ changes }: Recording): readonly Violation[] {
  return changes.flatMap((event, at) => {
    const why = misplaced(event, changes[at - 1]);
    return why === null ? [] : [violation('order', event, `${shown(event)}: ${why}`)];
  });
}

function misplaced(event: ChangeRow, previous: ChangeRow | undefined): string | null {
  const { seq, observedAt, observedFrom } = event;
  if (previous && seq <= previous.seq) return 'its number is not above the one before';
  if (previous && observedAt < previous.observedAt) return `${observedAt} is before ${previous.observedAt}`;
  return observedFrom !== null && observedFrom > observedAt ? `from ${observedFrom}, at ${observedAt}` : null;
}
