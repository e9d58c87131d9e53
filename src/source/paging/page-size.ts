import type { ListedKind } from '../../catalog/kind.ts';
import type { SourceError } from '../http/errors.ts';
import type { PageSizes } from '../http/requester.ts';

/** The service, or a gateway before it, took too long or was asked for too much. An answer that had begun was not too slow to make. */
const isTooSlow = ({ reason, status = 0 }: SourceError): boolean =>
  reason === 'timeout' ? status === 0 : [413, 504, 524].includes(status);

const isRefused = ({ status = 0 }: SourceError): boolean => status === 400 || status === 422;

/** The size of the pages that one reading asks for: half of it where the service refuses so many records, or takes too long. */
export function createPageSizer(kind: ListedKind, sizes: PageSizes) {
  const { wanted, answered } = sizes;
  const before = answered.get(kind.name) ?? wanted;
  let size = before;
  let hasAnswered = false;
  /**
   * A gateway may refuse the first page down to any size. A quarter is small enough where no answer came in time, since each try waits as
   * long, and where others of the size were read.
   */
  const isTooLarge = (fault: SourceError): boolean => {
    const least = hasAnswered || fault.reason === 'timeout' ? Math.ceil(wanted / 4) : 1;
    const mayHelp = isTooSlow(fault) || (!hasAnswered && isRefused(fault));
    return kind.list.paging === 'documented' && mayHelp && Math.floor(size / 2) >= least;
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
      answered.set(kind.name, size);
    },
    /** Halves the size if that may avoid the fault; returns how many times as many pages the list has then. */
    halve: (fault: SourceError): number => {
      const old = size;
      if (isTooLarge(fault)) size = Math.floor(size / 2);
      else if (!hasAnswered) size = before; // Smaller pages did not help.
      return Math.max(1, old / size);
    },
  };
}
