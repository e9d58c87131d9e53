import { onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/lib/time/clock.ts';
import { gate } from '../store/temp-mirror.ts';

/** Holds back the next sleep of the system clock until the returned function is called. */
export function holdNextSleep(): () => void {
  const { opened, open } = gate();
  const sleep = vi.spyOn(systemClock, 'sleep').mockReturnValueOnce(opened);
  onTestFinished(() => {
    sleep.mockRestore();
  });
  return open;
}
