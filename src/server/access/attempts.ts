import { isIPv6 } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { plainAddress } from './loopback.ts';

/** Counts wrong tokens by the address that they come from. */
interface Attempts {
  /** Counts a wrong token; returns the seconds to wait before the next attempt, 0 after only a few wrong ones. */
  readonly fail: (address: string) => number;
}

const WINDOW_MS = 60_000;
/**
 * From this attempt on, each wrong token makes the client wait, longer each time. The right token is always accepted, because
 * other clients may share its address.
 */
const PATIENCE = 20;
const REMEMBERED = 10_000;

interface Failures {
  readonly since: number;
  readonly count: number;
}

export function createAttempts(clock: Pick<Clock, 'monotonicMs'>): Attempts {
  const failures = new Map<string, Failures>();
  const recent = (network: string): Failures | null => {
    const known = failures.get(network);
    return known !== undefined && clock.monotonicMs() - known.since < WINDOW_MS ? known : null;
  };
  const secondsLeft = ({ since }: Failures): number =>
    Math.max(1, Math.ceil((since + WINDOW_MS - clock.monotonicMs()) / 1000));
  return {
    fail: (address) => {
      const network = networkOf(address);
      const { since, count } = recent(network) ?? { since: clock.monotonicMs(), count: 0 };
      const now = { since, count: count + 1 };
      failures.delete(network); // The map keeps the order of the latest failures.
      failures.set(network, now);
      const [oldest] = failures.keys();
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest);
      const excess = now.count - PATIENCE;
      return excess < 0 ? 0 : Math.min(2 ** excess, secondsLeft(now));
    },
  };
}

/** One caller may have all the IPv6 addresses of a /64. */
function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const [left, right] = [head.split(':'), tail.split(':')].map((some) => some.filter((part) => part !== ''));
  const zeros = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  return [...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(':');
}
