import type { Logger } from '../lib/log/logger.ts';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { isReadToEnd } from '../store/runs/run-store.ts';
import { pullKinds, type PullReport, type PullRequest } from '../pull/sweep/pull-kinds.ts';
import type { PullParts } from '../pull/parts.ts';

/** Reports a monitor outside how a pull has ended; never throws. */
export type Ping = (isWhole: boolean) => Promise<void>;

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

/** Pulls, then pings. A busy kind counts as a success, because another process reads it; an interrupted pull sends nothing. */
export async function pullAndPing(parts: PullParts, request: PullRequest, ping: Ping): Promise<PullReport> {
  try {
    const report = await pullKinds(parts, request);
    const isWhole = report.kinds.every((kind) => isReadToEnd(kind) || kind.state === 'busy');
    if (parts.signal?.aborted !== true) await ping(isWhole);
    return report;
  } catch (error) {
    await ping(false);
    throw error;
  }
}
