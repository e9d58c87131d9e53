import { isIP } from 'node:net';
import type { Problem } from '../answer/problem.ts';
import { isEveryAddress, plainAddress } from './loopback.ts';

const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];
const HOST = /^(\[[\da-f:.]+\]|[^:[\]\s@/\\]+)(?::\d{1,5})?$/i;

/**
 * Refuses a request that names another host: a web page whose name was made to resolve to this machine (DNS rebinding) sends
 * its own name.
 *
 * Ports are not compared, since tunnels and containers change them. A server that listens on every address accepts any IP
 * address, because it does not know all of its own, and an address cannot be rebound like a name.
 */
export function hostRefusal(
  header: string | undefined,
  { host, names }: { readonly host: string; readonly names: readonly string[] },
): Problem | null {
  const name = HOST.exec(header ?? '')?.[1];
  if (name === undefined)
    return { status: 400, code: 'http.bad_host', detail: 'The Host header is missing or malformed.' };
  const asked = plainAddress(name);
  if ([...OWN_NAMES, ...[host, ...names].map(plainAddress)].includes(asked)) return null;
  if (isEveryAddress(host) && isIP(asked) !== 0) return null;
  return {
    status: 421,
    code: 'http.foreign_host',
    detail: 'This server does not answer under that host name.',
    hint: 'Use the name or address in server.host, or localhost; or add the name to server.names.',
  };
}
