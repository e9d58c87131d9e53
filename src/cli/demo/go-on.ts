import { push, waitForOutcomes } from '../../app/commands/push.ts';
import { pull } from '../../app/pull.ts';
import type { OpenDashboard } from '../../app/serve-http.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import { printLine } from '../parts/io.ts';
import { DEMO_DATABASE, changeOne, eventLine, pullEvents } from './stage.ts';
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
  await pullProviders(stage); // The list without them is certified by this one or the next.
  await pullProviders(stage);
  say(`  ? ${REMOVED} providers disappeared at once: held until somebody decides, on the page or by`);
  say('    npx bms-sync deletions');
  if (await parkCreate(stage))
    say('  ? a create is parked: a record like it appeared meanwhile; see the page');
}

async function pullProviders({ config, logger, io }: DemoStage): Promise<void> {
  await pull(config, {
    ...{ kinds: ['providers'], acceptNewSource: false, logger, signal: io.signal },
    onProgress: () => undefined,
  });
}

/** A create that the service never gets, while somebody else creates a client like it. */
async function parkCreate({ sandbox, config, io }: DemoStage): Promise<boolean> {
  const sent = sandbox.requests.length;
  const isSent = (): boolean => sandbox.requests.slice(sent).some(({ method }) => method === 'POST');
  sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'before' } }]);
  const data = { code: 'DEMO-3', name: 'Carrosserie du Fleuve' };
  const request = { operation: 'create', kind: 'clients', data } as const;
  const [entry] = await push(config, [{ ...request, id: undefined, base: undefined, key: undefined }]);
  for (let tries = 0; tries < SECONDS * 10 && !isSent() && !io.signal.aborted; tries++)
    await sleepUnlessStopped(100, { clock: systemClock, signal: io.signal });
  sandbox.world.insert('clients', { ...data, name: 'Carrosserie du Fleuve inc.' });
  const ids = entry === undefined ? [] : [entry.id];
  const [outcome] = await waitForOutcomes(config, ids, { seconds: SECONDS, signal: io.signal });
  return outcome?.state === 'parked';
}
