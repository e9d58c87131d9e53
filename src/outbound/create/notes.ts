import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { AskedSweeps } from './decide-settlement.ts';

/** The notes that an unsettled create keeps for its next search. */
interface Notes {
  /** Records that were shown to a person, who decided against them. */
  readonly ids?: readonly string[];
  /** A person has seen the quarantined records and decided against them too. */
  readonly hasUnreadable?: boolean;
  /** A person requested another try, and the service has postponed it since. */
  readonly isAskedFor?: boolean;
  readonly asked?: AskedSweeps;
}

export const notesOf = ({ result }: Pick<Entry, 'result'>): Notes =>
  result === null ? {} : ((JSON.parse(result) as Notes | null) ?? {});
