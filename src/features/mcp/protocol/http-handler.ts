import { createMcpHandler } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { LANGUAGES } from '../../../lib/text/translator.ts';
import { USER_ROLES } from '../../../store/users/user-store.ts';
import type { Asker, ToolContext } from '../context.ts';
import { createMcpServer } from './create-mcp-server.ts';

const asker = z.object({ name: z.string(), role: z.enum(USER_ROLES), language: z.enum(LANGUAGES) });

/** Answers requests of the streamable HTTP transport; nothing is kept between them. */
export function createHttpHandler(context: ToolContext) {
  const handler = createMcpHandler(
    (request) => createMcpServer(context, asker.parse(request.authInfo?.extra)),
    {
      onerror: (error) => {
        context.logger.debug({ err: error }, 'a request to /mcp was refused');
      },
    },
  );
  return {
    answer: (request: Request, user: Asker): Promise<Response> =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: user.name, scopes: [], extra: { ...user } },
      }),
    close: handler.close,
  };
}
