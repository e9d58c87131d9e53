import type { ChangeLogSize } from '../mirror/records/change-log-size.ts';

/** Says how large the change events are and how fast they grow. */
export function changeLogText({ events, bytes, eventsPerDay, bytesPerDay }: ChangeLogSize): string {
  return `about ${events}, ${megabytes(bytes)}; ${eventsPerDay} a day, ${megabytes(bytesPerDay)} a day`;
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
