import { isIP } from 'node:net';
import { parseUrl } from './parse-url.ts';
import { isPublicAddress } from './public-address.ts';

/** A URL as a person writes it: scheme, host and perhaps a port; no user, no white space, no backslash. */
const WRITTEN = /^(https?):\/\/(\[[^\]]*\]|[^/?#@:[\]\\\s]+)(?::\d*)?(?:[/?#][^\s\\]*)?$/i;

/** Names that resolvers map to this machine or to the network around it. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/**
 * Why a URL is no target for requests of ours; null if it may be one.
 *
 * A target is `https:` on its own port, at a name or an address of the public internet. A host of `allowHosts` is one by
 * `http:` too, and on any port. Names are not looked up here.
 *
 * @param allowHosts Host names and addresses, without ports.
 */
export function targetFault(url: string, allowHosts: readonly string[]): string | null {
  const host = WRITTEN.exec(url)?.[2];
  const parsed = parseUrl(url);
  if (host === undefined || parsed === null)
    return 'it is not a plain http or https URL without user and password';
  const { protocol, hostname, port } = parsed;
  if (isAllowedHost(hostname, allowHosts)) return null;
  if (protocol !== 'https:') return 'it is not https';
  if (port !== '') return 'it has a port of its own';
  return hostFault(host.toLowerCase(), hostname);
}

/** @param hostname The host as a URL has it: in small letters, an address in its usual form, IPv6 in brackets. */
export function isAllowedHost(hostname: string, allowHosts: readonly string[]): boolean {
  return allowHosts.some((allowed) => hostnameOf(allowed) === hostname);
}

/** A host as a URL has it; the text itself if no URL can have it. */
function hostnameOf(host: string): string {
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}/`;
  return parseUrl(url)?.hostname ?? host;
}

/** The address that a URL's host name is; null for a name. */
export function addressOf(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? null : bare;
}

function hostFault(written: string, hostname: string): string | null {
  const address = addressOf(hostname);
  if (address === null) return nameFault(hostname);
  if (!isPublicAddress(address)) return `${address} is not a public address`;
  // 134744072 and 0x8.8.8.8 are 8.8.8.8: who writes them so hides something.
  return addressOf(written) === null ? `its address ${address} is written in an unusual form` : null;
}

function nameFault(hostname: string): string | null {
  if (hostname.endsWith('.')) return 'its host ends with a dot';
  if (!hostname.includes('.') || LOCAL_NAME.test(hostname)) return `${hostname} is not a public name`;
  return null;
}
