import { format } from 'node:util';
import type { LoggerOptions } from '../../src/lib/log/logger.ts';
import { watch } from './watch.ts';

/** The options of a logger whose every line is checked as it is written. */
export function watchedLines(options: LoggerOptions): LoggerOptions {
  const { destination } = options;
  const write = (line: string): void => {
    watch.look({ place: 'log lines', what: () => line }, line);
    destination.write(line);
  };
  return {
    ...options,
    destination: Object.assign(Object.create(destination) as typeof destination, { write }),
  };
}

/** Looks at what the tests print, and what our code prints where it was handed no output. */
export function watchConsole(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = ((...written: Parameters<typeof write>) => {
      print(Buffer.from(written[0]));
      return write(...written);
    }) as typeof stream.write;
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const call = console[method].bind(console);
    console[method] = (...args: unknown[]) => {
      print(format(...args));
      call(...args);
    };
  }
}

function print(text: string | Buffer): void {
  watch.look({ place: 'output of the tests themselves', what: () => text.toString() }, text);
}
