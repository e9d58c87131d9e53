import { rangesOf } from '../../lib/text/text.ts';
import type { ListedKind } from '../../catalog/kind.ts';
import { SourceError } from '../http/errors.ts';
import type { FailedPage, LoadedPage, PageLoader } from './page-loader.ts';
import { lastClaimedPage } from './page-checks.ts';
import type { PageWalk } from './walk-steps.ts';

/** After this many consecutive failures, checks whether the service answers at all; without a known end, reading stops there. */
const MAX_CONSECUTIVE_FAULTS = 3;
/** A list with more unreadable pages is not read on. */
const MAX_UNREAD = 20;

/** Collects the pages of a reading that could not be read, and decides whether to read on behind them. */
export function trackUnreadPages(loader: PageLoader, kind: ListedKind, failed?: FailedPage) {
  const faults = new Map<number, SourceError>();
  let consecutiveFaults = 0;
  let isChecked = false;

  const add = (failedPage: FailedPage): void => {
    faults.set(failedPage.page, failedPage.fault);
    consecutiveFaults++;
    isChecked = false;
  };
  /** A service that does not answer for another page either is away: the fault is not that of a page. */
  const check = async (page: number): Promise<void> => {
    if (isChecked) return;
    try {
      await loader.check(page);
    } catch (error) {
      if (error instanceof SourceError && error.reason !== 'interrupted')
        throw [...faults.values()].at(-1) ?? error;
      throw error;
    }
    isChecked = true;
  };
  if (failed) add(failed);

  return {
    noteFault: add,
    /** Whether to decide about reading on before the next page is taken. */
    isDoubtful: (walk: PageWalk) =>
      consecutiveFaults > 0 && (walk.answers === 0 || consecutiveFaults % MAX_CONSECUTIVE_FAULTS === 0),
    /** A page was read. */
    noteSuccess: (): void => {
      consecutiveFaults = 0;
    },
    /** Loads a page that has not failed yet. */
    load: (page: number, signal: AbortSignal): Promise<LoadedPage | FailedPage> => {
      const fault = faults.get(page);
      return fault === undefined ? loader.load(page, signal) : Promise.resolve({ page, fault });
    },
    /** @throws {SourceError} The fault of the latest page, if the service does not answer for another one either. */
    canContinue: async (walk: PageWalk, next: number): Promise<boolean> => {
      if (consecutiveFaults === 0) return true;
      if (walk.answers === 0) await check(next);
      else if (consecutiveFaults >= MAX_CONSECUTIVE_FAULTS) await check(Math.max(1, walk.latest.page));
      return (
        faults.size < MAX_UNREAD &&
        (consecutiveFaults < MAX_CONSECUTIVE_FAULTS || next <= lastClaimedPage(walk))
      );
    },
    /** Ends the reading. @throws {SourceError} page_unread, or the fault of the only page that was asked for. */
    end: async (walk: PageWalk): Promise<void> => {
      const [fault] = faults.values();
      if (fault === undefined) return;
      if (walk.answers === 0) throw fault;
      if (consecutiveFaults > 0) await check(Math.max(1, walk.latest.page));
      throw unreadError(kind, faults, fault);
    },
  };
}

function unreadError(kind: ListedKind, faults: ReadonlyMap<number, SourceError>, fault: SourceError) {
  const spans = rangesOf([...faults.keys()]);
  const pages = `${faults.size === 1 ? 'page' : 'pages'} ${spans.join(', ')} could not be read`;
  const rest = faults.size < MAX_UNREAD ? 'all others have landed' : 'pages behind them were not asked for';
  const commands = spans.map((span) => `bms-sync backfill ${kind.name} --pages ${span}`);
  const hint = `The next pull tries again; or, once the service answers: ${commands.join('; ')}`;
  return new SourceError('page_unread', `${fault.message}; ${pages}, ${rest}`, { hint, cause: fault });
}
