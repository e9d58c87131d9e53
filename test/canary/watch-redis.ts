import { createConnection } from 'node:net';
import { holds } from './spellings.ts';
import { watch } from './watch.ts';

const NEWLINE = 10;

/** Resolves once a Redis has ended and all its answers are checked. */
export interface RedisWatch {
  readonly ended: Promise<void>;
}

/**
 * Looks at every command that a Redis is sent, with its arguments, those of scripts included: what was a job's content
 * for a moment only is seen as well.
 */
export async function watchRedis(port: number, password: string | null): Promise<RedisWatch> {
  const socket = createConnection({ host: '127.0.0.1', port });
  let latest: Buffer = Buffer.alloc(0);
  const what = (): string => `port ${port}, ${leakingLine(latest)}`;
  const look = watch.inPieces({ place: 'Redis commands', what });
  watch.count('Redis commands', -1); // Commands are counted, not connections.
  socket.on('error', () => undefined); // A server that is killed cuts the connection: that is its end, too.
  const ended = new Promise<void>((resolve) =>
    socket.once('close', () => {
      resolve();
    }),
  );
  const heard = new Promise<void>((resolve) =>
    socket.once('data', () => {
      resolve();
    }),
  );
  socket.on('data', (piece) => {
    latest = piece;
    for (const byte of piece) if (byte === NEWLINE) watch.count('Redis commands');
    look(piece);
  });
  socket.write(`${password === null ? '' : `AUTH ${password}\r\n`}MONITOR\r\n`);
  await Promise.race([heard, ended]);
  return { ended };
}

/** The command with the secret, and its keys: the script of an `eval` comes before them. */
function leakingLine(piece: Buffer): string {
  const lines = piece.toString('latin1').split('\r\n');
  const line = lines.find((some) => holds(Buffer.from(some, 'latin1'))) ?? '';
  const [command = 'a command in two pieces'] = /"\w+"/.exec(line) ?? [];
  return [command, ...(line.match(/"[\w{}-]+:[\w:{}-]*"/g) ?? []).slice(0, 3)].join(' ');
}
