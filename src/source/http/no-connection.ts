import type { buildConnector, Pool } from 'undici';

/**
 * No connection was made; `cause` holds the reason, if there is one.
 *
 * It has no code of its own. If a proxy cuts the tunnel, undici would see UND_ERR_SOCKET and reconnect at once,
 * thousands of times a second; after an unknown error it gives up.
 */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** The options with which a proxy agent creates its clients: its connector opens the tunnel, and TLS within it. */
export type TunnelOptions = Pool.Options & { readonly connect: buildConnector.connector };

/** Makes a connector that undici does not call again for the same request. */
export function triedOnce(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (socket) callback(null, socket);
      else callback(new NoConnection('not connected', { cause: error }), null);
    });
  };
}
