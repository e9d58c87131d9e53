import { expect, onTestFinished, test } from 'vitest';
import { watchService } from '../../src/runs/outages.ts';
import type { Source } from '../../src/source/source.ts';
import { memoryLog } from './engine/support.ts';
import { clockAt, kindsNamed } from '../pull/steps.ts';
import { openSandboxSource, sandbox } from '../pull/support.ts';

async function sweptBy(source: Source): Promise<unknown> {
  const [kind] = kindsNamed('departments');
  if (kind === undefined) throw new Error('There is no kind departments');
  try {
    let pages = 0;
    for await (const { page } of source.sweep(kind, { thorough: false, tick: () => 0 })) pages = page;
    return pages > 0 ? null : pages;
  } catch (error) {
    return error;
  }
}

test.each([
  [503, 'unavailable', ['source.unreachable', 'source.back']],
  [429, 'rate_limited', []],
])('a service that answers only %d ends a reading as %s; the log has %j', async (status, reason, events) => {
  const service = await sandbox();
  const log = memoryLog();
  const clock = clockAt(0);
  const opened = openSandboxSource(service, clock);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const source = watchService(opened, { clock, logger: log.logger });
  service.setFaults([{ do: { status } }]);
  expect(await sweptBy(source)).toMatchObject({ reason });
  service.setFaults([]);
  expect(await sweptBy(source)).toBeNull();
  expect(log.lines.map(({ event }) => event)).toEqual(events);
});
