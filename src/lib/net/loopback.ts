import { BlockList, isIPv4 } from 'node:net';

/** Whether an address or a host name is a loopback one, which no other machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = normalizeAddress(host);
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/** A host in lower case without a URL's brackets; IPv4 in IPv6 becomes IPv4. */
export function normalizeAddress(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const mapped = bare.replace(/^::ffff:(?=\d+\.)/, '');
  return isIPv4(mapped) ? mapped : bare;
}

export const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Collects networks (`10.0.0.0/8`) and single addresses. */
export function networksOf(places: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [address = '', bits] of places.map((place) => place.split('/')))
    list.addSubnet(address, Number(bits ?? (isIPv4(address) ? 32 : 128)), familyOf(address));
  return list;
}
