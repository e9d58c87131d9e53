import type { SourceError, SourceReason } from '../http/errors.ts';

/** A page that could not be read, although others may be. */
export interface FailedPage {
  readonly page: number;
  readonly fault: SourceError;
}

export const isFailed = (loaded: object): loaded is FailedPage => 'fault' in loaded;

/** Faults that no other page would escape, or that show how the whole list answers. */
const OF_THE_LIST: readonly SourceReason[] = [
  'unauthorized',
  'forbidden',
  'redirected',
  'rate_limited',
  'interrupted',
  'endless',
  'empty_pages',
  'page_ignored',
];
/** On page 1 they tell of the address, the token and the network. */
const OF_THE_SERVICE: readonly SourceReason[] = [
  'not_found',
  'blocked',
  'rejected',
  'unreachable',
  'too_big',
];

/** Whether other pages may be read although this one cannot. A service that asks to wait means all of them. */
export function isOfPage({ reason, passing }: SourceError, page: number): boolean {
  const isAskedToWait = (passing?.waitMs ?? null) !== null;
  return !isAskedToWait && !OF_THE_LIST.includes(reason) && !(page === 1 && OF_THE_SERVICE.includes(reason));
}
