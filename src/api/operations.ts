import { runOperation, inputOf, type AnyOperation } from '../operations/operation.ts';
import { sentence } from '../lib/text/text.ts';
import { sendDocument } from '../http/send.ts';
import { deciderOf } from '../http/access.ts';
import type { RouteContext, Server } from '../http/server.ts';

/** The routes of the API for all operations. */
export function operationRoutes(
  app: Server,
  context: RouteContext,
  operations: readonly AnyOperation[],
): void {
  for (const operation of operations) {
    const { path, role, summary, answer, status = 200 } = operation;
    const schema = {
      summary: sentence(summary).slice(0, -1),
      ...inputOf(operation),
      response: { [status]: answer },
    };
    app.post(`/v1${path}`, { config: { role }, schema }, async (request, reply) => {
      const values = { ...(request.params as object), ...(request.body as object | null) };
      const by = deciderOf(request, 'api');
      const document = await runOperation(operation, { ...context, signal: context.closing, by }, values);
      return sendDocument(reply.code(status), answer, document);
    });
  }
}
