import { instantText } from '../../lib/clock.ts';

/** So long after its last heartbeat a process counts as gone, and what it was at is free for others. */
export const LEASE_MS = 45_000;

/** Between two heartbeats: two of them may fail. */
export const HEARTBEAT_MS = 15_000;

/** Until when a lease lasts that is taken or renewed now. */
export const leaseEnd = (now: Date): string => instantText(new Date(now.getTime() + LEASE_MS));
