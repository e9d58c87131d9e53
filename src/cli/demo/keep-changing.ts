import type { OpenDashboard } from '../../app/serve-http.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import type { World } from '../../../sandbox/world.ts';
import { commandName, printLine } from '../parts/io.ts';
import { DEMO_DATABASE, eventLine, pullEvents, type DemoStage } from './stage.ts';

const PAUSE_MS = 5_000;

/** Shows where to look at the mirror. */
export function showDashboard(stage: DemoStage, dashboard: OpenDashboard): void {
  const { sandbox, io } = stage;
  printLine(io.stderr, `\nThe dashboard: ${dashboard.address}`);
  printLine(io.stderr, `Sign in by this link, until the demo ends: ${dashboard.signInLink}`);
  printLine(io.stderr, 'In another terminal, in this folder:');
  const settings = `BMS_BASE_URL=${sandbox.url} BMS_TOKEN=${sandbox.token} DATABASE_URL=file:${DEMO_DATABASE}`;
  printLine(io.stderr, `${settings} ${commandName(io)} status`);
}

/** Runs until Ctrl-C: now and then a user changes something, and each event is one line. @param after The latest event that was printed. */
export async function keepChanging(stage: DemoStage, after: number): Promise<void> {
  const { sandbox, io, print } = stage;
  print('\n4. People keep working; Ctrl-C ends the demo. Each event is one line:\n');
  const isOver = (): boolean => io.signal.aborted;
  let seq = after;
  for (let step = 1; !isOver(); step++) {
    await sleepUnlessStopped(PAUSE_MS, { clock: systemClock, signal: io.signal });
    if (isOver()) return;
    changeOne(sandbox.world, step);
    const events = await pullEvents(stage, seq);
    for (const event of events) print(eventLine(event));
    seq = events.at(-1)?.seq ?? seq;
  }
}

/** Another user's work in the service's own screens: one edit, one new client, one client deleted. */
export function changeThree(world: World): void {
  const edited = at(world, 'clients', 11);
  const deleted = at(world, 'clients', 42);
  world.update('clients', edited, { phone: '(418) 555-0199' });
  world.insert('clients', { code: 'NEW-1', name: 'Garage Beaupré inc.', phone: '(418) 555-0142' });
  world.remove('clients', deleted);
}

/** One change after the other, from step 1; what happens follows from the number of the step. */
export function changeOne(world: World, step: number): void {
  const digits = String(1000 + step).slice(1);
  if (step % 4 === 0) world.remove('clients', at(world, 'clients', step * 11));
  else if (step % 4 === 1)
    world.update('products', at(world, 'products', step * 5), { price: `${step}.9500` });
  else if (step % 4 === 2) world.insert('clients', { code: `NEW-${step}`, name: `Garage Lévis ${step}` });
  else world.update('clients', at(world, 'clients', step * 7), { phone: `(514) 555-0${digits}` });
}

function at(world: World, kind: string, place: number): number {
  const ids = world.ids(kind);
  return ids[place % ids.length] ?? 0;
}
