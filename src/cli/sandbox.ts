import { once } from 'node:events';
import type { Command } from 'commander';
import { parseFaults, type Fault } from '../../sandbox/faults.ts';
import { createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { commandName } from './parts/io.ts';
import { parsePort, parseWholeNumber, readTextFile } from './parts/input.ts';
import { openSandbox } from './parts/open-sandbox.ts';

const DEFAULT_PORT = 4010;

export function sandboxCommand(context: CommandContext): Command {
  return createCommand('sandbox')
    .option('--port <port>', 'port to listen on; 0 takes any free one', parsePort, DEFAULT_PORT)
    .option('--size <clients>', 'how many clients; the other kinds scale with it', parseWholeNumber, 500)
    .option('--faults <file>', 'faults to inject (YAML or JSON, see docs/sandbox.md)')
    .action(async (options: CommonOptions & { port: number; size: number; faults?: string }) => {
      const { port, size } = options;
      const { signal } = context.io;
      const faults = options.faults === undefined ? [] : readFaults(options.faults);
      await using sandbox = await openSandbox({ port, size, faults });
      const { url, token } = sandbox;
      context.printResult(options, { url, token }, [
        `The sandbox answers at ${url}; Ctrl-C stops it.`,
        `Try: BMS_BASE_URL=${url} BMS_TOKEN=${token} DATABASE_URL=file:./data/sandbox.db ${commandName(context.io)} pull`,
      ]);
      if (!signal.aborted) await once(signal, 'abort');
    });
}

function readFaults(path: string): readonly Fault[] {
  const advice = { code: 'usage.faults', hint: 'Check its path; docs/sandbox.md shows one.' };
  return parseFaults(readTextFile(path, `The faults file ${path}`, advice));
}
