import { group, setting, unset } from '../setting.ts';
import * as a from '../value-types.ts';

export const source = group({
  baseUrl: setting(unset(a.serviceUrl), 'Base URL of the service; required by every command that calls it.', {
    variables: ['BMS_BASE_URL'],
    secret: 'password',
  }),
  token: setting(unset(a.token), 'Bearer token of the service; required by every command that calls it.', {
    variables: ['BMS_TOKEN', 'BMS_TOKEN_FILE'],
    secret: 'value',
  }),
  concurrency: setting(a.count.default(4), 'Requests that may be under way at once.'),
  requestsPerSecond: setting(unset(a.rate), 'Most requests to start in a second; null sets no limit.'),
  timeoutSeconds: setting(a.timerSeconds.default(30), 'How long one request may take, body included.'),
  maxAttempts: setting(
    a.count.default(5),
    'Tries of one read, the first included, before it counts as failed.',
  ),
  maxBodyBytes: setting(a.count.default(67_108_864), 'Longest response that is accepted, in bytes.'),
  authHeaders: setting(
    a.headerNames.default('all'),
    'Headers that carry the token: all three spellings, the documented one, or a list of names.',
  ),
  proxyUrl: setting(unset(a.webUrl), 'HTTP proxy that every request to the service goes through.', {
    secret: 'password',
  }),
});

export const sweep = group({
  repeatBelowPages: setting(
    a.countOrNone.default(20),
    'Lists with fewer pages are read again when nothing was certified and something waits for it.',
  ),
});
