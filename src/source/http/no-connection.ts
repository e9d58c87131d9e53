import type { buildConnector, Pool } from 'undici';

/**
 * No connection was made; `cause` says why, where anything does.
 *
 * It has no code of its own: where a proxy cuts the tunnel, undici would see UND_ERR_SOCKET and connect again at once,
 * on and on, thousands of times a second; on an error that it does not know it gives up.
 */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** What a proxy agent makes its clients with: its connector opens the tunnel, and TLS within it. */
export type TunnelOptions = Pool.Options & { readonly connect: buildConnector.connector };

/** Makes a connector that is not tried again for the same request. */
export function triedOnce(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (socket) callback(null, socket);
      else callback(new NoConnection('not connected', { cause: error }), null);
    });
  };
}
