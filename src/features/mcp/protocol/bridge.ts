import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Logger } from '../../../lib/log/logger.ts';
import { openStdio, type StdioSource } from './stdio.ts';

/** Passes messages between stdio and the `/mcp` of a `serve`, with a user's token: for programs that cannot send a header. */
export async function bridgeStdio(url: URL, token: string, logger: Logger, io: StdioSource): Promise<void> {
  const { transport: stdio, closed } = openStdio(io);
  const http = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const logFault = (error: Error): void => {
    logger.warn({ err: error }, `${url.origin} did not answer`);
  };
  http.onerror = logFault;
  stdio.onerror = logFault;
  http.onmessage = (message) => {
    const version = negotiatedVersion(message);
    if (version !== null) http.setProtocolVersion(version);
    stdio.send(message).catch(logFault);
  };
  stdio.onmessage = (message) => {
    http.send(message).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      if ('method' in message && 'id' in message)
        stdio
          .send({ jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: reason } })
          .catch(logFault);
    });
  };
  await http.start();
  await stdio.start();
  await closed;
  await http.close();
}

/** The version in the answer to `initialize`, which later requests name; null in any other message. */
function negotiatedVersion(message: JSONRPCMessage): string | null {
  const result = 'result' in message ? message.result : {};
  const version = 'serverInfo' in result ? result['protocolVersion'] : null;
  return typeof version === 'string' ? version : null;
}
