import { isIP } from 'node:net';
import type { Problem } from '../answer/problem.ts';
import { isEveryAddress, plainAddress } from './loopback.ts';

const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];
const HOST = /^(\[[\da-f:.]+\]|[^:[\]\s@/\\]+)(?::\d{1,5})?$/i;

/**
 * Refuses a request that names another host: a page of the web whose name was made to lead here (DNS rebinding) has its own.
 *
 * Ports are not compared, since tunnels and containers change them. Who listens on every address is asked for by addresses
 * that it does not know itself, and an address is no name that anybody could make lead here.
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
