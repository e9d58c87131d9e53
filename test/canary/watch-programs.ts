import { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { SANDBOX_TOKEN } from '../support/canary.ts';
import { servedPorts } from './watch-sockets.ts';
import { watch, type Sight } from './watch.ts';

interface Started {
  readonly args: readonly string[];
}
interface Spawning {
  stdout: Readable | null;
  stderr: Readable | null;
  spawn: (this: Spawning, options: Started) => number;
}

const SANDBOX = /^(?:sandbox|demo|--service=.*)$/;

/**
 * The sandbox prints the token that it accepts: it plays the service, and that token is in its documentation. The bundler, a service of its
 * own, serves the program, which contains that token.
 */
export const allowedFor = (argv: readonly string[]): readonly string[] =>
  argv.some((word) => SANDBOX.test(word)) ? [SANDBOX_TOKEN] : [];

/** Looks at all that programs print that are started from now on; how, `spawn` and `execFile` have in common. */
export function watchPrograms(): void {
  const common = ChildProcess.prototype as unknown as Spawning;
  const { spawn } = common;
  common.spawn = function (options) {
    const result = spawn.call(this, options);
    if (this.stdout) watchStream(this.stdout, { name: 'stdout', args: options.args });
    if (this.stderr) watchStream(this.stderr, { name: 'stderr', args: options.args });
    return result;
  };
}

/** Pieces are seen as they come in: to listen for them would set a stream flowing that the test has yet to read. */
function watchStream(stream: Readable, { name, args }: Started & { readonly name: string }): void {
  const sight: Sight = {
    place: 'output of other programs',
    what: () => `${name} of ${args.join(' ')}`,
    allowed: allowedFor(args),
  };
  const look = watch.inPieces(sight);
  const push = stream.push.bind(stream);
  stream.push = (piece: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(piece)) {
      look(piece);
      notePort(piece);
    }
    return push(piece, encoding);
  };
}

/** Where `serve` says that it listens: its answers are looked at as well. */
function notePort(piece: Buffer): void {
  if (!piece.includes('"address":"')) return;
  const port = /"address":"https?:\/\/[^"/]*:(\d+)/.exec(piece.toString('latin1'))?.[1];
  if (port !== undefined) servedPorts.add(Number(port));
}
