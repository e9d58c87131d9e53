import { randomUUID } from 'node:crypto';
import type { Beat, OnRing } from './bell.ts';
import type { Hearing } from './hearing.ts';
import type { NewJob, Producer } from './job-store.ts';
import { openEar, openProducer } from './line-ends.ts';
import type { Ear, LineParts } from './line-ends.ts';
import { LATE, within } from './within.ts';
import type { Ring, WorkQueue } from './work-queue.ts';

/** One queue in BullMQ, as far as this process has to do with it. */
export interface Line {
  ring(rings: readonly Ring[]): Promise<boolean>;
  listen(onRing: OnRing): void;
  beat(): Promise<Beat>;
  /** BullMQ's own figures, as Prometheus reads them; throws where they cannot be had. */
  metrics(): Promise<string>;
  /** Replaces both ends where the last beat did not come back. */
  restart(): void;
  close(): Promise<void>;
}

export function createLine(parts: LineParts): Line {
  const producer = openProducer(parts);
  const sendBeat = createBeats(parts, () => producer.get());
  let ear: Ear | null = null;
  let last: Beat = 'heard';
  return {
    ring: async (rings) => {
      ear?.consumer.get(); // Made anew where it broke.
      return put(parts, producer.get(), rings.map(ringJob(parts.queue)));
    },
    listen: (onRing) => {
      ear = openEar(parts, onRing);
      ear.consumer.get();
      producer.get(); // Connects meanwhile.
    },
    beat: async () => {
      if (ear === null) return 'heard'; // It is for others to listen.
      ear.consumer.get();
      last = await sendBeat(ear.hearing);
      return last;
    },
    restart: () => {
      if (last === 'heard' || last === 'busy') return;
      parts.logger.warn({ queue: parts.name }, 'worker and connections are replaced');
      producer.renew();
      ear?.consumer.renew();
      ear?.consumer.get();
      producer.get();
    },
    metrics: async () => {
      const end = producer.get();
      if (end === null) throw new Error(`${parts.name} is being opened again`);
      return end.metrics();
    },
    close: async () => {
      await Promise.all([producer.close(), ear?.consumer.close()]);
    },
  };
}

const ringJob =
  ({ jobPrefix }: WorkQueue) =>
  (ring: Ring): NewJob => ({
    jobId: `${jobPrefix}-${ring.id}-${ring.epoch}`,
    name: 'ring',
    data: ring,
    isFirst: false,
  });

/** Puts jobs into the queue; false where that failed or took too long. */
async function put(
  { clock, pace, name, faults }: LineParts,
  producer: Producer | null,
  jobs: readonly NewJob[],
): Promise<boolean> {
  if (producer === null) return false;
  try {
    return (await within(clock, pace.ringMs, producer.add(jobs))) !== LATE;
  } catch (error) {
    faults(`ringing ${name}`, error);
    return false;
  }
}

/** Makes what sends a heartbeat before all jobs that wait, and says what became of it. */
function createBeats(parts: LineParts, producer: () => Producer | null): (hearing: Hearing) => Promise<Beat> {
  const { clock, pace } = parts;
  const process = randomUUID();
  let sent = 0;
  return async (hearing) => {
    const data = { id: ++sent, epoch: 0 };
    const jobId = `beat-${process}-${data.id}`;
    const heard = hearing.expect(jobId);
    const timesFull = hearing.timesFull();
    try {
      const job = { jobId, name: 'beat', data, isFirst: true } as const;
      if (!(await put(parts, producer(), [job]))) return 'unsent';
      if ((await within(clock, pace.beatWaitMs, heard)) !== LATE) return 'heard';
      const back = await takeBack(parts, producer(), jobId);
      if (back === 'taken') return 'heard'; // By another process: rings arrive.
      if (back === 'unknown') return 'unsent';
      return hearing.isFull() || hearing.timesFull() > timesFull ? 'busy' : 'lost';
    } finally {
      hearing.forget(jobId);
    }
  };
}

async function takeBack(
  { clock, pace, name, faults }: LineParts,
  producer: Producer | null,
  jobId: string,
): Promise<'waiting' | 'taken' | 'unknown'> {
  if (producer === null) return 'unknown';
  try {
    const waited = await within(clock, pace.ringMs, producer.takeBack(jobId));
    if (waited === LATE) return 'unknown';
    return waited ? 'waiting' : 'taken';
  } catch (error) {
    faults(`taking a heartbeat back from ${name}`, error);
    return 'unknown';
  }
}
