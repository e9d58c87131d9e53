import { z } from 'zod';
import { group, mapOf, setting, unset } from '../setting.ts';
import * as a from '../value-types.ts';

const LOOKS = [300, 1800, 7200, 21_600, 86_400];

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
    unset(a.hours),
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
  lookScheduleSeconds: setting(a.risingSeconds.default(LOOKS), 'When to look for it, counted from the send.'),
  preimageMaxAgeSeconds: setting(
    a.seconds.default(900),
    'Oldest complete sweep that may show what existed before a create.',
  ),
  markerFields: setting(
    mapOf(a.kindName, a.fieldName),
    'Record kind to the free field that carries our mark on creates.',
  ),
});

export const diff = group({
  ignoreFields: setting(
    mapOf(a.kindName, z.array(a.fieldName, 'a list of field names')),
    'Record kind to the fields whose changes are no events.',
  ),
});

export const privacy = group({
  exclude: setting(
    mapOf(a.kindName, z.array(a.fieldName, 'a list of field names')),
    'Record kind to the fields that must not land: neither in rows and events nor in issues and logs.',
  ),
});
