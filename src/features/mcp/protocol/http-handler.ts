import { createMcpHandler } from '@modelcontextprotocol/server';
import { asker, type Asker, type ToolContext } from '../context.ts';
import { createMcpServer } from './create-mcp-server.ts';

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
