import { isIP } from 'node:net';
import { networksOf } from './loopback.ts';

/** Names that resolvers map to this machine or to the network around it. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/**
 * Why we do not send requests to a URL; null for `https:` on its own port, at a name (which is not looked up) or an
 * address of the public internet. A host of `allowHosts` is a target by `http:` too, and on any port.
 */
export function targetFault(url: string, allowHosts: readonly string[]): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username + parsed.password !== '')
    return 'it is not an http or https URL without user and password';
  const { protocol, hostname, port } = parsed;
  if (isAllowedHost(hostname, allowHosts)) return null;
  if (protocol !== 'https:') return 'it is not https';
  if (port !== '') return 'it has a port';
  const address = ipAddressIn(hostname);
  if (address !== null) return isPublicAddress(address) ? null : `${address} is not a public address`;
  const isPublicName = hostname.includes('.') && !hostname.endsWith('.') && !LOCAL_NAME.test(hostname);
  return isPublicName ? null : `${hostname} is not a public name`;
}

/** @param hostname The host as a URL has it: in small letters, an address in its usual form, IPv6 in brackets. */
export function isAllowedHost(hostname: string, allowHosts: readonly string[]): boolean {
  return allowHosts.some((allowed) => {
    const url = URL.parse(`http://${isIP(allowed) === 6 ? `[${allowed}]` : allowed}/`);
    return (url?.hostname ?? allowed) === hostname; // The text itself if no URL can have it.
  });
}

/** The address that a URL's host name is; null for a name. */
export function ipAddressIn(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? null : bare;
}

/**
 * Ranges that are not public. IPv4: IANA's registry of special-purpose addresses with the relays of 6to4, multicast, reserved
 * ranges, and the address under which Azure serves its metadata. IPv6, within 2000::/3: protocol assignments (with Teredo and
 * ORCHID), documentation, 6to4; all other special ranges (loopback, link-local, unique local, multicast, IPv4-mapped, NAT64,
 * segment routing) lie outside it.
 */
const SPECIAL = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  2001::/23 2001:db8::/32 2002::/16 3fff::/20`;

const special = networksOf(SPECIAL.trim().split(/\s+/));
const global = networksOf(['2000::/3']);

/** Whether an address, as a resolver or a socket gives it, is of the public internet; one with a zone is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  if (family === 0 || address.includes('%')) return false;
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
