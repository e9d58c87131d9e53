import type { Command } from 'commander';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { staleReader } from '../../app/scheduled-pulls.ts';
import { allKinds } from '../../config/known-kinds.ts';
import { isLoopback } from '../../lib/net/loopback.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { createSqlReader } from './context.ts';
import { bridgeStdio } from './protocol/bridge.ts';
import { answerOnStdio } from './protocol/stdio.ts';
import { createCommand, type CommandContext, type CommonOptions } from '../../cli/parts/command.ts';
import { commandLineDecider } from '../../cli/parts/operation-command.ts';

export function mcpCommand(context: CommandContext): Command {
  return createCommand('mcp')
    .option('--url <url>', 'ask a running serve: https://HOST/mcp, by a token of a user in MCP_TOKEN')
    .action(async (options: CommonOptions & { readonly url?: string }) => {
      const config = await context.keptSettings(options);
      const logger = await context.logger(config);
      if (options.url !== undefined) {
        await bridgeStdio(serveUrl(options.url), requireUserToken(config.mcp.token), logger, context.io);
        return;
      }
      await using session = await openExistingMirror(config);
      const mirror = { session, clock: systemClock, logger };
      const tools = {
        ...mirror,
        kinds: allKinds(config),
        readSql: createSqlReader(config.database.url, config.bi.readerRole),
        readStale: staleReader(config, mirror),
        timezone: config.schedules.timezone,
      };
      const { who: name, role } = commandLineDecider();
      await answerOnStdio(tools, { name, role, language: config.language }, context.io);
    });
}

/** The address of the route: `/mcp` unless a path is given. @throws {UsageError} `usage.url`. */
function serveUrl(text: string): URL {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.search !== '')
    throw new UsageError(`"${text}" is not the address of a serve.`, {
      code: 'usage.url',
      hint: 'Write https://HOST/mcp, without user and query; http only for localhost.',
    });
  return url.pathname === '/' ? new URL('/mcp', url) : url;
}

function requireUserToken(token: string | null): string {
  if (token !== null) return token;
  throw new UsageError('--url needs the token of a user.', {
    code: 'usage.token',
    hint: 'Set MCP_TOKEN or MCP_TOKEN_FILE to a token from: bms-sync users add NAME --role viewer',
  });
}
