import type { AppControllerRoute } from '@bull-board/api/typings/app';
import type { QueueViews } from '../../jobs/queue-views.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { shownQueue } from './shown-queue.ts';

/** The reads of bull-board's API, which ask our queues; whatever changes something is left out, and so has no handler here. */
export function readsOf(
  routes: readonly AppControllerRoute[],
  views: Pick<QueueViews, 'ask'>,
): AppControllerRoute[] {
  return routes
    .filter(({ method }) => method === 'get')
    .map((route) => ({ ...route, handler: (request) => answerOf(route, request, views) }));
}

type Request = Parameters<AppControllerRoute['handler']>[0];
type Answer = Awaited<ReturnType<AppControllerRoute['handler']>>;

/** @throws {SyncError} `queue.unreachable`; `queue.absent` where there is no such queue, job or figure. */
async function answerOf(
  route: AppControllerRoute,
  request: Request,
  views: Pick<QueueViews, 'ask'>,
): Promise<Answer> {
  const answer = await views.ask(async (queues) => {
    const shown = queues.map(shownQueue);
    const known = new Map(shown.map((queue) => [queue.getName(), queue]));
    return await route.handler(request && { ...request, queues: known });
  });
  if ((answer.status ?? 200) < 400) return answer;
  throw new SyncError('The queue has nothing of that sort.', { code: 'queue.absent' });
}
