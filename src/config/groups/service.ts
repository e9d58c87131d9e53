import { z } from 'zod';
import { group, setting, unset } from '../setting.ts';
import * as a from '../value-types.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const server = group({
  adminToken: setting(
    unset(a.adminToken),
    'Token of the HTTP API and its status page, 32 characters at least; null allows reads only, on loopback only.',
    { variables: ['ADMIN_TOKEN'], secret: 'value' },
  ),
  host: setting(a.host.default('127.0.0.1'), 'Address that serve listens on.', { variables: ['HOST'] }),
  names: setting(
    z.array(a.host, 'a list of host names').default([]),
    'Further names that serve answers under: that of a service in Kubernetes or Compose, or of a proxy that passes its own on.',
  ),
  port: setting(a.port.default(8080), 'Port that serve listens on; 0 takes a free one.', {
    variables: ['PORT'],
  }),
});

export const log = group({
  level: setting(
    z.enum(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`).default('info'),
    'Least severe messages that are logged.',
    { variables: ['LOG_LEVEL'] },
  ),
});

export const shutdown = group({
  graceSeconds: setting(a.timerSeconds.default(25), 'Time to finish running work when asked to stop.'),
});
