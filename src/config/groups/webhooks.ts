import { isIP } from 'node:net';
import * as z from 'zod';
import { targetFault } from '../../lib/net/target-url.ts';
import { group, mapOf, setting, unset } from '../setting.ts';
import * as a from '../value-types.ts';

const CHANGES = ['created', 'updated', 'deleted', 'restored'] as const;
const FORMATS = ['json', 'slack', 'teams', 'text'] as const;

const endpoint = z.strictObject(
  {
    url: a.webUrl,
    secret: unset(a.webhookSecrets),
    kinds: unset(z.array(a.kindName, 'a list of record kinds, or null for all')),
    changes: unset(
      z.array(z.enum(CHANGES, CHANGES.join(', ')), `a list of ${CHANGES.join(', ')}, or null for all`),
    ),
    fields: unset(z.array(a.fieldName, 'a list of field names, or null for all')),
    format: z.enum(FORMATS, FORMATS.join(', ')).default('json'),
  },
  'a map with url, secret, kinds, changes, fields and format',
);

const HOST = 'a host name or an address, without a port';
const allowedHost = z.string(HOST).refine((host) => isIP(host) !== 0 || /^[^\s/:@?#[\]]+$/.test(host), HOST);

/** The published schedule of Standard Webhooks. */
const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

export const webhooks = group({
  endpoints: setting(
    mapOf(a.endpointName, endpoint),
    'Receivers of events: name to url, secret, kinds, changes, fields and format (docs/webhooks.md).',
    { secret: 'value' },
  ),
  allowHosts: setting(
    z.array(allowedHost, 'a list of host names and addresses').default([]),
    'Hosts inside, by name or address, that events may be sent to: by http too, and on any port.',
  ),
  retrySeconds: setting(
    z.array(a.waitSeconds, 'a list of seconds').default(RETRY_SECONDS),
    'Waits between the attempts of a delivery; after the last one it is given up.',
  ),
}).superRefine(({ endpoints, allowHosts }, context) => {
  for (const [name, { url }] of Object.entries(endpoints)) {
    const fault = targetFault(url, allowHosts);
    if (fault === null) continue;
    const message = `a public https URL, or one whose host stands in webhooks.allowHosts (${fault})`;
    context.addIssue({ code: 'custom', path: ['endpoints', name, 'url'], message });
  }
});
