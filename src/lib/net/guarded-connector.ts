import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { codedError } from '../sync-error.ts';
import { ipAddressIn, isAllowedHost, isPublicAddress } from './target-url.ts';

/** Finds all addresses of a name; rejects where it knows none. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const systemResolve: Resolve = (hostname) => lookUp(hostname, { all: true, order: 'verbatim' });

/**
 * Makes undici's way to connect: only to public addresses, unless the host is allowed.
 *
 * An address that stands in the URL is checked first, because Node looks up names only. The addresses of a name are checked
 * at each connection, when they are resolved, and the socket connects to these and to no others.
 *
 * @param allowHosts Hosts whose addresses need not be public: see `targetFault`.
 * @param resolve The resolver; tests pass another one.
 */
export function createGuardedConnector(
  allowHosts: readonly string[],
  timeoutMs: number,
  resolve: Resolve = systemResolve,
): buildConnector.connector {
  const connector = (isAcceptable: (address: string) => boolean): buildConnector.connector =>
    buildConnector({ timeout: timeoutMs, allowH2: false, lookup: createLookup(resolve, isAcceptable) });
  const unguarded = connector(() => true);
  const guarded = connector(isPublicAddress);
  return (options, done) => {
    if (isAllowedHost(options.hostname, allowHosts)) {
      unguarded(options, done);
      return;
    }
    const address = ipAddressIn(options.hostname);
    if (address !== null && !isPublicAddress(address)) done(refused(options.hostname), null);
    else guarded(options, done);
  };
}

/** A connection to an address that is not public was refused before it was used. */
const refused = (hostname: string): Error =>
  codedError('address_refused', `${hostname} does not resolve to a public address.`);

/** A lookup that fails unless every address of the name is acceptable: which one Node tries first is not ours to choose. */
function createLookup(resolve: Resolve, isAcceptable: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    const fail = (error: Error): void => done(error, '', 0);
    resolve(hostname).then((addresses) => {
      const [first] = addresses;
      if (first === undefined || !addresses.every((lookupAddress) => isAcceptable(lookupAddress.address)))
        fail(refused(hostname));
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    }, fail);
  };
}

/** Whether a URL's host name leads to public addresses only, as far as the resolver knows now; null if it does not know it. */
export async function isPublicHost(hostname: string, resolve: Resolve = systemResolve) {
  const address = ipAddressIn(hostname);
  if (address !== null) return isPublicAddress(address);
  return resolve(hostname).then(
    (addresses) => addresses.every((each) => isPublicAddress(each.address)),
    () => null,
  );
}
