import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { ONE_DATABASE, MIRRORS, pullOne } from './steps.ts';
import { rowsOf, sandbox } from './support.ts';

const PAGE = 15;
const BEYOND = ['empty', 'missing', 'last page again', 'page ignored'] as const;

/** A service whose bookings come in pages that say nothing of themselves. */
async function bareService(beyond: (typeof BEYOND)[number]) {
  const state = { rows: 0 };
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const last = Math.max(1, Math.ceil(state.rows / PAGE));
    const wanted = Number(new URL(url, 'http://service').searchParams.get('page') ?? 1);
    const page = beyond === 'last page again' ? Math.min(wanted, last) : wanted;
    const all = Array.from({ length: state.rows }, (_, index) => ({ id: index + 1, code: `B${index}` }));
    const data = beyond === 'page ignored' ? all : all.slice((page - 1) * PAGE, page * PAGE);
    const isMissing = data.length === 0 && page > 1 && beyond === 'missing';
    response.writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isMissing ? { message: 'Not found.' } : { data }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const honest: Sandbox = await sandbox({ size: 1 });
  const service = { ...honest, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return { service, state, requests: () => asked.splice(0).length };
}

/** The requests of a sweep of a quiet list. */
function requestsFor(rows: number, beyond: (typeof BEYOND)[number]): number {
  const pages = Math.ceil(rows / PAGE);
  if (beyond === 'page ignored') return 2;
  if (pages === 1) return beyond === 'last page again' ? 2 : 3;
  const isFull = rows % PAGE === 0;
  return pages + (isFull && beyond !== 'last page again' ? 3 : 2);
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test.each(BEYOND)(
    'a list that tells nothing is known at every length; beyond its end: %s',
    async (beyond) => {
      const { service, state, requests } = await bareService(beyond);
      const session = await MIRRORS[database]();
      let minute = 0;
      const pull = () => pullOne(service, session, { kind: 'bookings', minute: (minute += 20) });
      for (const rows of [12, 15, 16, 40, 45, 60]) {
        state.rows = rows;
        await pull(); // Where a page has come, one reading may not show how long pages are.
        requests();
        expect(await pull()).toMatchObject({ state: 'certified', reason: null, rows });
        expect(requests()).toBe(requestsFor(rows, beyond));
      }
      expect(await rowsOf(session, 'bookings')).toHaveLength(60);
    },
  );
});
