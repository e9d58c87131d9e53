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
  concurrency: setting(a.count.default(4), 'Requests that may be under way at once.'),
  requestsPerSecond: setting(
    nullableSetting(a.rate),
    'Most requests to start in a second; null sets no limit.',
  ),
  timeoutSeconds: setting(a.timerSeconds.default(30), 'How long one request may take, body included.'),
  maxAttempts: setting(
    a.count.default(5),
    'Tries of one read, the first included, before it counts as failed.',
  ),
  maxBodyBytes: setting(
    a.count.default(67_108_864),
    'Longest response that is accepted, in bytes, as unpacked.',
  ),
  authHeaders: setting(
    a.headerNames.default('all'),
    'Headers that carry the token: all three spellings, the documented one, or a list of names.',
  ),
  pageSize: setting(
    a.pageSize.default(100),
    'Records to ask for on a page (per_page), from 1 to 1000; half of it where the service refuses so many, or takes too long.',
  ),
  proxyUrl: setting(
    nullableSetting(a.proxyUrl),
    'HTTP proxy that every request to the service goes through.',
    {
      secret: 'password',
    },
  ),
});

export const sweep = group({
  repeatBelowPages: setting(
    a.countOrNone.default(20),
    'Lists with fewer pages are read again when nothing was certified and something waits for it.',
  ),
});

export const deletions = group({
  graceSeconds: setting(
    a.seconds.default(900),
    'How long a record must stay gone before it counts as deleted.',
  ),
  holdAbove: group({
    rows: setting(a.countOrNone.default(5), 'Disappearances at once, beyond which a person must approve.'),
    share: setting(a.share.default(0.02), 'The same as a share of the live rows; the larger of both counts.'),
  }),
  releaseHeldAfterHours: setting(
    nullableSetting(a.hours),
    'How long nothing may speak against a hold before it goes on to its proof by itself; null: a person decides.',
  ),
});

export const outbound = group({
  writes: setting(
    z.enum(['on', 'off'], 'on or off').default('off'),
    'Whether outbound changes are sent (on) or only queued (off).',
    { variables: ['BMS_WRITES'] },
  ),
  settleSeconds: setting(a.seconds.default(300), 'Rest after a send whose outcome is not known.'),
  patienceSeconds: setting(
    a.seconds.default(86_400),
    'How long such a send is looked for before it is resent.',
  ),
});

export const plans = group({
  approvals: setting(
    a.countOrNone.max(1, '0 or 1').default(0),
    'How many other people must approve a plan of corrections before it is applied: 0 or 1.',
  ),
});

export const diff = group({
  ignoreFields: setting(
    mapOf(a.kindNameText, z.array(a.kindField, 'a list of field names')),
    'Record kind to the fields whose changes are no events.',
  ),
});

export const privacy = group({
  exclude: setting(
    mapOf(a.kindNameText, z.array(a.kindField, 'a list of field names')),
    'Record kind to the fields that must not land, nowhere. The mirror remembers them; an empty list lets them in again.',
  ),
});
