import type { Socket } from 'node:net';
import { errors } from 'undici';
import type { buildConnector } from 'undici';
import { NoConnection } from './no-connection.ts';

/** A gate between a new connection and the request to be written to it. */
export interface ConnectionGate {
  /** Makes a connector whose connection passes here. */
  through(connect: buildConnector.connector): buildConnector.connector;
  /** The socket that was handed over; null = it never was, and so no byte of the request has left. */
  readonly socket: Socket | null;
  /** True where a connection was refused because it came too late. */
  readonly isLate: boolean;
  /** Closes the gate: from now on `socket` does not change. */
  shut(): void;
}

/**
 * Lets one connection through at most: a second one would be the request's repetition.
 *
 * @param mayGo Asked when it is about to pass; false refuses it.
 */
export function createConnectionGate(mayGo: () => boolean = () => true): ConnectionGate {
  let isOpen = true;
  let isLate = false;
  let handed: Socket | null = null;

  return {
    through: (connect) => (options, callback) => {
      if (!isOpen || handed) {
        const cause = new errors.SocketError('closed before the request was written');
        callback(new NoConnection('refused', { cause }), null);
        return;
      }
      connect(options, (error, socket) => {
        isLate ||= isOpen && socket !== null && !mayGo();
        if (isOpen && socket && !isLate) {
          handed = socket;
          callback(null, socket);
          return;
        }
        socket?.on('error', () => undefined).destroy();
        callback(new NoConnection('not connected', { cause: error }), null);
      });
    },
    get socket() {
      return handed;
    },
    get isLate() {
      return isLate;
    },
    shut: () => {
      isOpen = false;
    },
  };
}
