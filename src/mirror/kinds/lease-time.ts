import { instantText } from '../../lib/clock.ts';

/** A process without a heartbeat for this time, in milliseconds, counts as gone; others may then take its work over. */
export const LEASE_MS = 45_000;

/** Milliseconds between two heartbeats: two of them may fail before the lease ends. */
export const HEARTBEAT_MS = 15_000;

/** The end of a lease that is taken or renewed now. */
export const leaseEnd = (now: Date): string => instantText(new Date(now.getTime() + LEASE_MS));
