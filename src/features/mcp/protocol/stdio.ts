import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Asker, ToolContext } from '../context.ts';
import { createMcpServer } from './create-mcp-server.ts';

/** What is piped in, and the signal that ends it. */
export interface StdioSource {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly signal: AbortSignal;
}

const MOST_WAIT_MS = 60_000; // Longer than any tool takes. A lost answer must not keep the process.

/** Answers on stdin and stdout until stdin has ended and all was answered, or the signal fires. */
export async function answerOnStdio(context: ToolContext, asker: Asker, io: StdioSource): Promise<void> {
  const { transport, closed } = openStdio(io);
  serveStdio(() => createMcpServer(context, asker), {
    transport,
    onerror: (error) => {
      if (!io.signal.aborted) context.logger.warn({ err: error }, 'a message on stdin could not be answered');
    },
  });
  await closed;
}

/**
 * Creates a transport over stdin and stdout. The library's own ends with stdin, and loses the answers that are still open then;
 * this one ends once they are written.
 */
export function openStdio({ stdin, signal }: StdioSource): {
  readonly transport: Transport;
  readonly closed: Promise<unknown>;
} {
  const open = new Set<unknown>();
  const events = new EventEmitter();
  const settle = (id: unknown): void => {
    open.delete(id);
    events.emit('settled');
  };
  async function* readUntilAnswered() {
    const decoder = new TextDecoder(); // It drops a byte order mark.
    for await (const chunk of stdin)
      yield Buffer.from(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    yield Buffer.from('\n'); // The last message may lack it.
    const ended = AbortSignal.any([signal, AbortSignal.timeout(MOST_WAIT_MS)]);
    while (open.size > 0 && !ended.aborted) await once(events, 'settled', { signal: ended });
  }
  const stdio = new StdioServerTransport(Readable.from(readUntilAnswered()));
  const closed = once(events, 'closed');
  const transport: Transport = {
    start: () => {
      stdio.onmessage = (message) => {
        if (isAnswered(message)) open.add(message.id);
        transport.onmessage?.(message);
        if ('method' in message && message.method === 'notifications/cancelled')
          settle(message.params?.['requestId']); // It gets no answer.
      };
      stdio.onerror = (error) => transport.onerror?.(error);
      stdio.onclose = () => {
        transport.onclose?.();
        events.emit('closed');
      };
      return stdio.start();
    },
    send: async (message) => {
      await stdio.send(message);
      if (!('method' in message)) settle(message.id);
    },
    close: () => stdio.close(),
  };
  return { transport, closed };
}

/** Whether a message is a request with one answer; a subscription has none. */
const isAnswered = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message && message.method !== 'subscriptions/listen';
