import { z } from 'zod';
import { mapOf, setting, unset } from '../setting.ts';
import * as a from '../value-types.ts';

const endpoint = z.strictObject(
  {
    url: a.webUrl,
    secret: unset(a.webhookSecret),
    kinds: unset(z.array(a.kindName, 'a list of record kinds, or null for all')),
  },
  'a map with url, secret and kinds',
);

export const webhooks = setting(
  mapOf(a.endpointName, endpoint),
  'Endpoints for change events: name to url, secret and kinds.',
  { secret: 'value', inForce: false },
);
