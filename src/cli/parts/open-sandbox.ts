import type { Sandbox, SandboxOptions } from '../../../sandbox/sandbox.ts';
import { systemClock } from '../../lib/time/clock.ts';

/** Starts a sandbox whose data end today. Apart, because tsc leaves a dynamic import beside `await using` as it is. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { startSandbox } = await import('../../../sandbox/sandbox.ts');
  return startSandbox({ ...options, today: systemClock.now() });
}
