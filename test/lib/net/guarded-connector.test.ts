import { createServer } from 'node:net';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';
import {
  createGuardedConnector,
  isPublicHost,
  type Resolve,
} from '../../../src/lib/net/guarded-connector.ts';
import { untilTestEnds } from '../../support/serve.ts';
import { REFUSED, REFUSED_URLS } from './addresses.ts';

/** A machine inside: counts its connections. */
async function inside(host: string): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  const { port } = await untilTestEnds(server, host);
  return { port, connections: () => connections };
}

const answering =
  (...addresses: readonly string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

async function codeOf(url: string, resolve?: Resolve, allowHosts: readonly string[] = []): Promise<unknown> {
  const dispatcher = new Agent({
    connect: createGuardedConnector(allowHosts, 2_000, resolve),
  });
  try {
    const { statusCode, body } = await request(url, { dispatcher, method: 'POST' });
    await body.dump();
    return statusCode;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  } finally {
    await dispatcher.destroy();
  }
}

test('nothing connects to an address that is not public, however it is written or resolved (I01)', async () => {
  const machines = await Promise.all([inside('127.0.0.1'), inside('::1')]);
  for (const { port } of machines) {
    const hosts = REFUSED.flatMap((address) => [address, `[${address}]`]);
    const urls = hosts.map((host) => `http://${host}:${port}/`).filter((url) => URL.canParse(url));
    expect(urls.length).toBeGreaterThan(100);
    for (const url of urls)
      expect([url, await codeOf(url, answering('127.0.0.1'))]).toEqual([url, 'address_refused']);
    for (const url of REFUSED_URLS.filter((each) => URL.canParse(each) && each.startsWith('https:')))
      expect([200]).not.toContain(await codeOf(url.replace('https:', 'http:'), answering('127.0.0.1')));
    const literal = REFUSED.filter((address) => /^[\d.]+$|^[0-9a-f:]*:[0-9a-f:.]*$/i.test(address));
    for (const address of literal)
      expect(await codeOf(`http://rebinding.example:${port}/`, answering(address))).toBe('address_refused');
  }
  expect(machines.map(({ connections }) => connections())).toEqual([0, 0]);
});

test('a name with one address inside is refused as a whole', async () => {
  const { port, connections } = await inside('127.0.0.1');
  const url = `http://mixed.example:${port}/`;
  expect(await codeOf(url, answering('93.184.216.34', '127.0.0.1'))).toBe('address_refused');
  expect(await codeOf(url, answering())).toBe('address_refused');
  expect(connections()).toBe(0);
});

test('a name that the system does not know is a fault like any other', async () => {
  expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(await codeOf('http://hooks.bms-sync.invalid/'));
});

test('an allowed host is reached, by name or by address', async () => {
  const { port, connections } = await inside('127.0.0.1');
  expect(await codeOf(`http://receiver:${port}/`, answering('127.0.0.1'), ['receiver'])).toBe(200);
  expect(await codeOf(`http://127.0.0.1:${port}/`, answering(), ['127.0.0.1'])).toBe(200);
  expect(await codeOf(`http://other:${port}/`, answering('127.0.0.1'), ['receiver'])).toBe('address_refused');
  expect(connections()).toBe(2);
});

test('a name leads to public addresses, to others, or is unknown', async () => {
  const unknown: Resolve = () => Promise.reject(new Error('unknown'));
  expect(await isPublicHost('a.example', answering('93.184.216.34'))).toBe(true);
  expect(await isPublicHost('a.example', answering('93.184.216.34', '10.0.0.1'))).toBe(false);
  expect(await isPublicHost('a.example', unknown)).toBeNull();
  expect(await isPublicHost('[::1]', unknown)).toBe(false);
});
