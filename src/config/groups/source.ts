import * as z from 'zod';
import { group, setting, nullableSetting, mapOf } from './setting.ts';
import * as a from './value-types.ts';

export const source = group({
  baseUrl: setting(
    nullableSetting(a.serviceUrl),
    'Base URL of the service; required by every command that calls it.',
    {
      variables: ['BMS_BASE_URL'],
      secret: 'password',
    },
  ),
  token: setting(
    nullableSetting(a.token),
    'Bearer token of the service; required by every command that calls it.',
    {
      variables: ['BMS_TOKEN', 'BMS_TOKEN_FILE'],
      secret: 'value',
    },
  ),
  concurrency: setting(a.count.default(4), 'Maximum number of concurrent requests.'),
  requestsPerSecond: setting(
    nullableSetting(a.rate),
    'Maximum number of requests per second; null sets no limit.',
  ),
  timeoutSeconds: setting(a.timerSeconds.default(30), 'How long one request may take, body included.'),
  maxAttempts: setting(a.count.default(5), 'Attempts of one read, including the first, before it fails.'),
  maxBodyBytes: setting(a.count.default(67_108_864), 'Maximum size of a response, in bytes, unpacked.'),
  authHeaders: setting(
    a.headerNames.default('all'),
    'Headers that carry the token: all three spellings, the documented one, or a list of names.',
  ),
  pageSize: setting(
    a.pageSize.default(100),
    'Records per page (per_page), from 1 to 1000; halved where the service refuses so many, is too slow or hides records.',
  ),
  proxyUrl: setting(nullableSetting(a.proxyUrl), 'HTTP proxy for all requests to the service.', {
    secret: 'password',
  }),
});

export const sweep = group({
  repeatBelowPages: setting(
    a.countOrNone.default(20),
    'Shorter lists (in pages) are read again if they were not certified and something waits for it.',
  ),
});

export const deletions = group({
  graceSeconds: setting(
    a.seconds.default(900),
    'How long a record must stay gone before it counts as deleted.',
  ),
  holdAbove: group({
    rows: setting(
      a.countOrNone.default(5),
      'Number of disappearances at once above which a user must approve.',
    ),
    share: setting(
      a.share.default(0.02),
      'The same as a share of the live rows; the larger of the two applies.',
    ),
  }),
  releaseHeldAfterHours: setting(
    nullableSetting(a.hours),
    'Does nothing any more: held deletions wait for a person.',
  ),
});

export const outbound = group({
  writes: setting(
    z.enum(['on', 'off'], 'on or off').default('off'),
    'Whether outbound changes are sent (on) or only queued (off).',
    { variables: ['BMS_WRITES'] },
  ),
  settleSeconds: setting(a.seconds.default(300), 'Delay after a send with an unknown outcome.'),
  patienceSeconds: setting(
    a.seconds.default(86_400),
    'How long bms-sync searches for such a send before it resends it.',
  ),
});

export const plans = group({
  approvals: setting(
    a.countOrNone.max(1, '0 or 1').default(0),
    'How many other people must approve a plan of corrections before it is applied: 0 or 1.',
  ),
});

const fieldsByKind = () => mapOf(z.array(a.kindField, 'a list of field names'));

export const diff = group({
  ignoreFields: setting(fieldsByKind(), 'Fields whose changes create no events, per record kind.'),
});

export const privacy = group({
  exclude: setting(
    fieldsByKind(),
    'Fields that are never stored, per record kind. The mirror remembers them; an empty list allows them again.',
  ),
});
