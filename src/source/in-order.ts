import type { PageRange } from './sweep-plan.ts';

/**
 * Loads pages side by side and hands them out in page order.
 *
 * The window is refilled before a page is handed out, so that the network is busy while the page is landed. When the
 * consumer stops or a page fails, what is under way is aborted and awaited.
 *
 * @param load Must end soon after its signal fires, which it does with the given one too.
 */
export async function* inOrder<T>(
  { from, to }: PageRange,
  { width, signal }: { readonly width: number; readonly signal?: AbortSignal | undefined },
  load: (page: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const abort = new AbortController();
  const stop = (): void => {
    abort.abort();
  };
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  // Settled results: a page that fails before its turn must not be an unhandled rejection.
  const window: Promise<PromiseSettledResult<T>[]>[] = [];
  let next = from;
  const refill = (): void => {
    while (window.length < width && next <= to) window.push(Promise.allSettled([load(next++, abort.signal)]));
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
    signal?.removeEventListener('abort', stop);
    stop();
    await Promise.all(window);
  }
}
