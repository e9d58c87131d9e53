import { sendProblem } from '../answer/problem.ts';
import type { Problem } from '../answer/problem.ts';
import type { Context, Server } from '../server.ts';

const PREFIX = '/queues';

const NONE: Problem = {
  status: 404,
  code: 'queue.none',
  detail: 'There is no queue: this process works its rows by itself.',
  hint: 'GET /v1/outbox and GET /v1/runs tell what is due; QUEUE_URL sets a queue up.',
};

const NOTHING: Problem = {
  status: 404,
  code: 'http.not_found',
  detail: 'There is nothing here.',
  hint: 'GET /queues shows the queues.',
};

/** Pages that show the queues; only who has one loads them. */
export async function queueRoutes(app: Server, context: Context): Promise<void> {
  const { queueViews: views } = context;
  if (views !== undefined) {
    const { boardRoutes } = await import('../board/board-routes.ts'); // It brings a second copy of BullMQ, and templates.
    await boardRoutes(app, context, { prefix: PREFIX, views });
  }
  const problem = views === undefined ? NONE : NOTHING;
  for (const url of views === undefined ? [PREFIX, `${PREFIX}/*`] : [`${PREFIX}/*`])
    app.get(url, { schema: { hide: true } }, (_request, reply) => sendProblem(reply, problem));
}
