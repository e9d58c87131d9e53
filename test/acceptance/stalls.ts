import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How long the event loop stood still at most, in milliseconds. */
export interface Stalls {
  readonly maxMs: number;
  readonly p99Ms: number;
  /**
   * The longest stall as far as this process was computing in it, all its threads together: on a machine that others use, a
   * process also stands still while it waits for a processor.
   */
  readonly busyMs: number;
}

const TICK_MS = 10;

/** Watches the event loop; `take` returns the stalls since its last call. */
export function watchStalls(): { readonly take: () => Stalls; readonly stop: () => void } {
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  let busyMs = 0;
  let at = performance.now();
  let cpu = process.cpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const used = process.cpuUsage(cpu);
    busyMs = Math.max(busyMs, Math.min(now - at - TICK_MS, (used.user + used.system) / 1e3));
    [at, cpu] = [now, process.cpuUsage()];
  }, TICK_MS);
  return {
    take: () => {
      const taken = { maxMs: inMs(delay.max), p99Ms: inMs(delay.percentile(99)), busyMs: Math.round(busyMs) };
      delay.reset();
      busyMs = 0;
      return taken;
    },
    stop: () => {
      delay.disable();
      clearInterval(timer);
    },
  };
}

const inMs = (nanoseconds: number): number => Math.round(nanoseconds / 1e6);
