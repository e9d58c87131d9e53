import { createDeadline } from '../http/deadline.ts';
import type { PageRange } from './sweep-state.ts';

export interface Window {
  /** The number of pages under way or waiting to be handed out. */
  readonly width: number;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/**
 * Loads pages side by side and hands them out in page order.
 *
 * The window is refilled before a page is handed out, so that the network is busy while the page lands. When the
 * consumer stops or a page fails, requests under way are aborted and awaited.
 *
 * @param load Must end soon after its signal fires; that signal fires with the caller's too.
 */
export async function* inOrder<T>(
  { from, to }: PageRange,
  { width, signals }: Window,
  load: (page: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const stop = new AbortController();
  const scope = createDeadline(null, [stop.signal, ...signals]);
  // Settled results: a page that fails before its turn must not be an unhandled rejection.
  const window: Promise<PromiseSettledResult<T>[]>[] = [];
  let next = from;
  const refill = (): void => {
    while (window.length < width && next <= to) window.push(Promise.allSettled([load(next++, scope.signal)]));
  };
  try {
    refill();
    for (let turn = window.shift(); turn; turn = window.shift()) {
      const [result] = await turn;
      if (result?.status === 'rejected') throw result.reason;
      refill();
      if (result) yield result.value;
    }
  } finally {
    stop.abort();
    scope.release();
    await Promise.all(window);
  }
}
