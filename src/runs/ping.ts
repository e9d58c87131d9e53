import type { Logger } from '../lib/log/logger.ts';
import { createFaultLog } from '../lib/log/fault-log.ts';
import { formatInstant, type Clock } from '../lib/time/clock.ts';
import { readFailing } from '../store/kinds/status-store.ts';
import { isReadToEnd } from '../store/runs/run-store.ts';
import { pullKinds, type PullReport, type PullRequest } from '../pull/sweep/pull-kinds.ts';
import type { PullParts } from '../pull/parts.ts';
import type { Schedule } from './schedule.ts';

/** Reports a monitor outside how a pull has ended; never throws. */
type Ping = (isWhole: boolean) => Promise<void>;

export interface MonitorRules {
  readonly ping: Ping;
  readonly schedules: readonly Schedule[];
}

const ANSWER_MS = 5_000;

/** Creates the ping of the setting `monitor.pingUrl`; an unreachable monitor is logged once, without its address. */
export function createPing(
  pingUrl: string | null,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Ping {
  const log = createFaultLog(parts, { event: 'monitor', name: 'the monitor outside (monitor.pingUrl)' });
  return async (isWhole) => {
    if (pingUrl === null) return;
    const url = new URL(pingUrl);
    if (!isWhole) url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/fail`;
    try {
      const { ok, status, body } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
      await body?.cancel();
      if (ok) log.succeeded();
      else log.failed(new Error(`it answered ${status}`));
    } catch (error) {
      log.failed(error);
    }
  };
}

/**
 * Pulls, then pings: success if no scheduled kind is left whose latest reading failed, a failure unless a repeat only finds what failed
 * before. A busy kind is no failure, because another process reads it; an interrupted pull sends nothing.
 */
export async function pullAndPing(
  parts: PullParts,
  request: PullRequest,
  { ping, schedules, isRepeat = false }: MonitorRules & { readonly isRepeat?: boolean },
): Promise<PullReport> {
  try {
    const report = await pullKinds(parts, request);
    if (parts.signal?.aborted === true) return report;
    const scheduled = schedules.flatMap((schedule) => schedule.kinds);
    const failing = (await readFailing(parts.session)).filter(({ kind }) => scheduled.includes(kind));
    const isWhole = report.kinds.every((kind) => isReadToEnd(kind) || kind.state === 'busy');
    const begun = formatInstant(new Date(report.startedAt));
    const isNews = isWhole ? failing.length === 0 : !isRepeat || failing.some(({ since }) => since >= begun);
    if (isNews) await ping(isWhole);
    return report;
  } catch (error) {
    if (!isRepeat) await ping(false);
    throw error;
  }
}
