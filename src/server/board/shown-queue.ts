import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Job, Queue } from 'bullmq';
import { readJob } from '../../jobs/job-data.ts';

/**
 * A queue as the board may show it: read-only, and of each job no more than what ours hold.
 *
 * Anybody who reaches the store can put jobs there, with whatever in them; none of that is told, logs and schedules
 * (of which ours have none) included.
 */
export function shownQueue(queue: Queue): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false });
  const getJob = adapter.getJob.bind(adapter);
  const getJobs = adapter.getJobs.bind(adapter);
  adapter.getJob = async (id) => {
    const job = await getJob(id);
    return job && shownJob(job);
  };
  adapter.getJobs = async (...wanted) => (await getJobs(...wanted)).map(shownJob);
  adapter.getJobLogs = () => Promise.resolve([]);
  adapter.getJobSchedulers = () => Promise.resolve([]);
  adapter.getFlowProducer = () => Promise.resolve(null);
  return adapter;
}

const FOREIGN = 'not a job of bms-sync';

function shownJob(job: Job): Job {
  const known = readJob(job);
  const { id, timestamp, processedOn, finishedOn, attemptsMade, delay, priority, stalledCounter } =
    job.toJSON();
  const shown = {
    ...{ id, timestamp, processedOn, finishedOn, attemptsMade, delay, priority, stalledCounter },
    ...{ progress: 0, opts: {}, stacktrace: [] },
    name: known?.name ?? FOREIGN,
    data: known && { id: known.id, epoch: known.epoch },
  };
  job.toJSON = () => shown as unknown as ReturnType<Job['toJSON']>;
  return job;
}
