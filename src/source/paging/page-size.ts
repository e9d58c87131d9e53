import type { ListedKind } from '../../catalog/kind.ts';
import type { SourceError } from '../http/errors.ts';
import type { PageSizes } from '../http/requester.ts';

/** Whether the service, or a gateway before it, was asked for too much or took too long. An answer that had begun was not too slow to make. */
export const isTooSlow = ({ reason, status = 0 }: SourceError): boolean =>
  reason === 'timeout' ? status === 0 : [413, 504, 524].includes(status);

const isRefused = ({ status = 0 }: SourceError): boolean => status === 400 || status === 422;

/** The size of the pages of one reading. The first answer settles it: until then, half as many records are asked for where so many are refused. */
export function createPageSizer(kind: ListedKind, { wanted, answered }: PageSizes) {
  const before = answered.get(kind.name) ?? wanted;
  let size = before;
  let isSettled = false;
  return {
    size: () => size,
    /** Halves the size if that may avoid the fault. Where no answer came in time, each try waits as long: a quarter is small enough. */
    halve: (fault: SourceError): boolean => {
      if (isSettled) return false;
      const least = fault.reason === 'timeout' ? Math.ceil(wanted / 4) : 1;
      const mayHelp = kind.list.paging === 'documented' && (isTooSlow(fault) || isRefused(fault));
      const isHalved = mayHelp && Math.floor(size / 2) >= least;
      size = isHalved ? Math.floor(size / 2) : before;
      return isHalved;
    },
    /** Whether a smaller size is tried, once. */
    isTrial: () => !isSettled && size < before,
    settle: (): void => {
      isSettled = true;
      answered.set(kind.name, size);
    },
  };
}
