import type { OpenDashboard } from '../../app/serve/serve-http.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import { leaveDecisions } from './decisions.ts';
import { eventLine, pullEvents } from './events.ts';
import { changeOne } from './other-users.ts';
import { DEMO_DATABASE } from './stage.ts';
import type { DemoStage } from './stage.ts';
import { printLine } from '../print/io.ts';

const PAUSE_MS = 5_000;

interface Going {
  readonly dashboard: OpenDashboard;
  /** The latest event that was told. */
  readonly after: number;
}

/** Goes on living until Ctrl-C: now and then a user changes something, and each event is one line, here and on the page. */
export async function goOn(stage: DemoStage, { dashboard, after }: Going): Promise<void> {
  const { sandbox, io, say } = stage;
  const isOver = (): boolean => io.signal.aborted;
  if (isOver()) return;
  printLine(io.stderr, `\nThe dashboard: ${dashboard.address}`);
  printLine(io.stderr, `Sign in, once, within ten minutes: ${dashboard.signInLink()}`);
  printLine(io.stderr, 'In another terminal, in this folder:');
  printLine(
    io.stderr,
    `BMS_BASE_URL=${sandbox.url} BMS_TOKEN=${sandbox.token} DATABASE_URL=file:${DEMO_DATABASE} npx bms-sync status`,
  );
  say('\n5. People go on working; Ctrl-C ends the demo. Each event is one line:\n');
  for (let [step, seq] = [1, after]; !isOver(); step++) {
    if (step === 2) await leaveDecisions(stage);
    await sleepUnlessStopped(PAUSE_MS, { clock: systemClock, signal: io.signal });
    if (isOver()) return;
    changeOne(sandbox.world, step);
    const events = await pullEvents(stage, seq);
    for (const event of events) say(eventLine(event));
    seq = events.at(-1)?.seq ?? seq;
  }
}
