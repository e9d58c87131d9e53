import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges that are not public: IANA's registry of special-purpose addresses, multicast, and reserved ranges. The relays
 * of 6to4 are among them.
 */
const SPECIAL_V4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Ranges within 2000::/3 that are not public, or lead to IPv4: protocol assignments (with Teredo and ORCHID), documentation,
 * 6to4. All other special ranges (loopback, link-local, unique local, multicast, IPv4-mapped, NAT64, segment routing) lie
 * outside 2000::/3.
 */
const SPECIAL_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, prefix] of SPECIAL_V4) special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of SPECIAL_V6) special.addSubnet(network, prefix, 'ipv6');

const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address belongs to a machine of the public internet.
 *
 * @param address As the resolver or a socket gives it. One with a zone, and any other text, is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && global.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}
