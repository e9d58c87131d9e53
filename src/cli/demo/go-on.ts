import type { OpenDashboard } from '../../app/serve-http.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import type { World } from '../../sandbox/world.ts';
import { printLine } from '../parts/io.ts';
import { DEMO_DATABASE, eventLine, outcomeOf, pullAgain, pullEvents, pushEntry } from './stage.ts';
import type { DemoStage } from './stage.ts';

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

const REMOVED = 7;
const SECONDS = 20;

/** Leaves two things that a person decides: many records that disappear at once, and a create whose outcome is in doubt. */
async function leaveDecisions(stage: DemoStage): Promise<void> {
  const { sandbox, say } = stage;
  for (const id of sandbox.world.ids('providers').slice(0, REMOVED)) sandbox.world.remove('providers', id);
  await pullAgain(stage, ['providers']); // The list without them is certified by this one or the next.
  await pullAgain(stage, ['providers']);
  say(`  ? ${REMOVED} providers disappeared at once: held until somebody decides, on the page or by`);
  say('    npx bms-sync deletions');
  if (await parkCreate(stage))
    say('  ? a create is parked: a record like it appeared meanwhile; see the page');
}

/** A create that the service never gets, while somebody else creates a client like it. */
async function parkCreate(stage: DemoStage): Promise<boolean> {
  const { sandbox, io } = stage;
  const sent = sandbox.requests.length;
  const isSent = (): boolean => sandbox.requests.slice(sent).some(({ method }) => method === 'POST');
  sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'before' } }]);
  const data = { code: 'DEMO-3', name: 'Carrosserie du Fleuve' };
  const id = await pushEntry(stage, { operation: 'create', kind: 'clients', data });
  for (let tries = 0; tries < SECONDS * 10 && !isSent() && !io.signal.aborted; tries++)
    await sleepUnlessStopped(100, { clock: systemClock, signal: io.signal });
  sandbox.world.insert('clients', { ...data, name: 'Carrosserie du Fleuve inc.' });
  return (await outcomeOf(stage, id)).state === 'parked';
}

const PHONES = ['(418) 555-0142', '(514) 555-0117', '(819) 555-0163', '(450) 555-0128'];
const GARAGES = ['Garage Beaupré', 'Carrosserie Lévis', 'Pneus du Fleuve', 'Mécanique Sept-Îles'];
const PRICES = ['64.9500', '129.0000', '18.2500', '349.9900'];

/** Another user's work in the service's own screens: one edit, one new client, one client deleted. */
export function changeThree(world: World): void {
  const [edited, deleted] = [at(world, 'clients', 11), at(world, 'clients', 42)];
  world.update('clients', edited, { phone: '(418) 555-0199' });
  world.insert('clients', newClient(0));
  world.remove('clients', deleted);
}

/** The steps that are taken again and again once the story is over. */
const STEPS: readonly ((world: World, step: number) => void)[] = [
  (world, step) => world.update('clients', at(world, 'clients', step * 7), { phone: of(PHONES, step) }),
  (world, step) => world.update('products', at(world, 'products', step * 5), { price: of(PRICES, step) }),
  (world, step) => world.insert('clients', newClient(step)),
  (world, step) => world.update('clients', at(world, 'clients', step * 3), { phone: of(PHONES, step + 1) }),
  (world, step) => {
    world.remove('clients', at(world, 'clients', step * 11));
  },
];

/** One change after the other, from step 1; what happens follows from the number of the step. */
export function changeOne(world: World, step: number): void {
  STEPS[step % STEPS.length]?.(world, step);
}

function newClient(step: number): JsonObject {
  return { code: `NEW-${step + 1}`, name: `${of(GARAGES, step)} inc.`, phone: of(PHONES, step) };
}

const of = (texts: readonly string[], step: number): string => texts[step % texts.length] ?? '';

/** The id at a place of the list, counted round. */
function at(world: World, kind: string, place: number): number {
  const ids = world.ids(kind);
  return ids[place % ids.length] ?? 0;
}
