import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Asker, ToolContext } from '../context.ts';
import { createMcpServer } from './create-mcp-server.ts';

/** Answers on stdin and stdout until stdin ends or the signal fires. */
export async function answerOnStdio(context: ToolContext, asker: Asker, signal: AbortSignal): Promise<void> {
  const { logger } = context;
  const served = serveStdio(() => createMcpServer(context, asker), {
    onerror: (error) => {
      logger.warn({ err: error }, 'a message on stdin could not be answered');
    },
  });
  await inputEnd(signal);
  await served.close();
}

/** Waits until stdin ends or the signal fires. */
export async function inputEnd(signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  process.stdin.once('close', () => {
    ended.abort();
  });
  const either = AbortSignal.any([signal, ended.signal]);
  if (!either.aborted) await once(either, 'abort');
}
