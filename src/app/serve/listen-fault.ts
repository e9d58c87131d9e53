import { SyncError } from '../../lib/sync-error.ts';
import { errorCode } from '../../lib/error-code.ts';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'that is no address of this machine',
  ENOTFOUND: 'that host name is not known here',
};

/** The fault of a server that could not begin to listen: why, and the settings to change. */
export function listenFault(error: unknown, { host, port }: { host: string; port: number }): SyncError {
  const code = errorCode(error);
  const why = REASONS[code] ?? code;
  return new SyncError(`Nothing can listen on ${host}:${port}${why === '' ? '' : `: ${why}`}.`, {
    code: 'server.no_address',
    hint: 'Set HOST and PORT to an address of this machine that is free (PORT=0 takes any), or leave http out: serve --only pulls,outbound.',
    cause: error,
  });
}
