import type { ListedKind } from '../../catalog/kind.ts';
import type { SourceError } from '../http/errors.ts';
import type { PageSizes } from '../http/requester.ts';

/** The service, or a gateway before it, took too long or was asked for too much. */
const isTooSlow = ({ reason, status = 0 }: SourceError): boolean =>
  reason === 'timeout' || reason === 'too_big' || [413, 504, 524].includes(status);

const isRefused = ({ status = 0 }: SourceError): boolean => status === 400 || status === 422;

/** The size of the pages that one reading asks for: half of it where the service refuses so many records, or takes too long. */
export function createPageSize({ name, list }: ListedKind, { wanted, answered }: PageSizes) {
  const before = answered.get(name) ?? wanted;
  let size = before;
  let hasAnswered = false;
  /** The first page may need pages of any size; where others of the size were read, a quarter is small enough. */
  const isTooLarge = (fault: SourceError): boolean => {
    const least = hasAnswered ? Math.ceil(wanted / 4) : 1;
    const mayHelp = isTooSlow(fault) || (!hasAnswered && isRefused(fault));
    return list.paging === 'documented' && mayHelp && Math.floor(size / 2) >= least;
  };
  return {
    size: () => size,
    isTooLarge,
    /** Whether a page need not be asked for again: the size is tried twice, smaller ones once. */
    isTriedEnough: (fault: SourceError, tries: number): boolean => {
      const isSearching = !hasAnswered && size < before && isTooSlow(fault);
      return isSearching || (tries > 1 && isTooLarge(fault));
    },
    noteAnswer: (): void => {
      hasAnswered = true;
      answered.set(name, size);
    },
    /** Halves the size where that may mend the fault; returns how many times as many pages the list has then. */
    halve: (fault: SourceError): number => {
      const old = size;
      if (isTooLarge(fault)) size = Math.floor(size / 2);
      else if (!hasAnswered) size = before; // Smaller pages were no help.
      return Math.max(1, old / size);
    },
  };
}
