import { push, waitForOutcomes } from '../../app/commands/push.ts';
import { pull } from '../../app/pull.ts';
import { sleepUnlessStopped, systemClock } from '../../lib/time/clock.ts';
import type { DemoStage } from './stage.ts';

const REMOVED = 7;
const SECONDS = 20;

/** Leaves two things that a person decides: many records that disappear at once, and a create whose outcome is in doubt. */
export async function leaveDecisions(stage: DemoStage): Promise<void> {
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
