import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/time/clock.ts';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { asking } from './ask.ts';
import { TOKEN, serveMirror } from './stage.ts';

const SIGN_IN = 'POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
const UNFINISHED = [
  `${SIGN_IN}content-length: 100\r\n\r\n`,
  `${SIGN_IN}content-length: 100\r\n\r\n{"token":`,
  `${SIGN_IN}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
  `${SIGN_IN}content-length: 100\r\nexpect: 100-continue\r\n\r\n`,
];

interface Crowd {
  readonly sockets: readonly Socket[];
  /** Resolves once all have begun, or were refused. */
  readonly begun: Promise<unknown>;
  readonly ended: Promise<unknown>;
}

/** Connections with a sign-in that does not come to its end. */
function crowdAt(url: string, size: number): Crowd {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: size }, (_, n) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(UNFINISHED[n % UNFINISHED.length] ?? '');
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const hear = (...events: string[]): Promise<unknown> =>
    Promise.all(
      sockets.map((socket) =>
        Promise.race(events.map((event) => once(socket, event).catch(() => undefined))),
      ),
    );
  return { sockets, begun: hear('connect', 'close'), ended: hear('close') };
}

test.each([256, 2_000])(
  '%i sign-ins that never end keep nobody out, and are over after five seconds',
  { timeout: 60_000 },
  async (size) => {
    const { url } = await serveMirror(await tempMirror([kindNamed('clients')]));
    const headers = { authorization: `Bearer ${TOKEN}` };
    const keeping = asking(url, 1);
    const asked = { path: '/v1/status', headers };
    await keeping(asked);
    const crowd = crowdAt(url, size);
    const over = { is: false };
    void crowd.ended.then(() => (over.is = true));
    await crowd.begun;
    let answered = 0;
    while (!over.is) {
      const anew = { headers: { ...headers, connection: 'close' } };
      expect((await fetch(`${url}/v1/status`, anew)).status).toBe(200);
      expect((await keeping(asked)).status).toBe(200);
      expect((await fetch(`${url}/health`, { headers: { connection: 'close' } })).status).toBe(200);
      answered++;
      await systemClock.sleep(100); // A core is not kept busy by asking.
    }
    expect(answered).toBeGreaterThan(1);
  },
);
