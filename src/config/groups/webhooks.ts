import { isIP } from 'node:net';
import * as z from 'zod';
import { group, setting } from './setting.ts';
import * as a from './value-types.ts';

const HOST = 'a host name or an address, without a port';
const allowedHost = z.string(HOST).refine((host) => isIP(host) !== 0 || /^[^\s/:@?#[\]]+$/.test(host), HOST);

/** The published schedule of Standard Webhooks. */
const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

export const webhooks = group({
  allowHosts: setting(
    z.array(allowedHost, 'a list of host names and addresses').default([]),
    'Hosts inside, by name or address, that events may be sent to: by http too, and on any port.',
  ),
  retrySeconds: setting(
    z.array(a.waitSeconds, 'a list of seconds').default(RETRY_SECONDS),
    'Waits between the attempts of a delivery; after the last one it is given up.',
  ),
});
