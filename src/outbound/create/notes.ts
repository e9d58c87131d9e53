import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { AskedSweeps } from './decide-settlement.ts';

/** What the result of a create that is not settled keeps for its next look. */
export interface Notes {
  /** Records that were shown to a person, who decided against them. */
  readonly ids?: readonly string[];
  /** A person was told of records that no row can be made of, and decided against them too. */
  readonly hasUnreadable?: boolean;
  /** A person asked for another try, and the service has put it off since. */
  readonly isAskedFor?: boolean;
  readonly asked?: AskedSweeps;
}

export const notesOf = ({ result }: Pick<Entry, 'result'>): Notes =>
  result === null ? {} : ((JSON.parse(result) as Notes | null) ?? {});
