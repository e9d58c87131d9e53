/** The places at which a worker's process can die, by what it does there. */
export type CrashPoint = (typeof CRASH_POINTS)[number];

type Transaction =
  'claim' | 'create: decide' | 'create: store' | 'update: decide' | 'update: store' | 'take over';

const TRANSACTIONS: readonly Transaction[] = [
  'claim',
  'create: decide',
  'create: store',
  'update: decide',
  'update: store',
  'take over',
];

const AROUND = ['before it', 'before its commit', 'after its commit'] as const;

export const CRASH_POINTS = [
  ...TRANSACTIONS.flatMap((name) => AROUND.map((when) => `${name}, ${when}` as const)),
  'create: before the mark',
  'create: after the mark',
  'create: before the send',
  'create: after the send has left',
  'create: after the answer',
  'create: before reading the answered record',
  'create: after reading the answered record',
  'update: before reading',
  'update: after reading',
  'update: before the mark',
  'update: after the mark',
  'update: before the send',
  'update: after the send has left',
  'update: after the answer',
  'update: before reading back',
  'update: after reading back',
] as const;
