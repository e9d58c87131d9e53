import { decideHold } from '../../src/mirror/records/deletion-store.ts';
import { abandonEntry } from '../../src/outbound/decisions/decide.ts';
import { decide, entriesOf } from '../outbound-simulation/decisions.ts';
import { askForSweep } from '../outbound-simulation/people.ts';
import { comeToRest, untilSettled } from '../outbound-simulation/run-schedule.ts';
import type { Stage } from '../outbound-simulation/stage.ts';
import { unequal } from '../simulation/checkers/rows.ts';
import { dumpMirror } from '../simulation/dump.ts';
import { beHonest } from './spells.ts';
import type { Soak } from './stage.ts';

const MINUTE = 60_000;

/** The hours of a day in which everything is mended, until nothing is under way any more and the mirror has come to rest. */
export async function heal({ stage, read, today }: Soak): Promise<void> {
  stage.isCalm = true;
  stage.barred.clear();
  beHonest(read);
  read.world.change('restore all');
  stage.say('— healed');
  stage.wakeUp.wake();
  await untilSettled(stage);
  await untilArrived(stage);
  if (!today.hasEquals) await decide(stage);
  await untilSettled(stage);
  await comeToRest(stage);
  await restReading(stage);
}

/** A person knows the truth about a create only when no write can arrive any more. */
async function untilArrived({ timeline, sends, schedule }: Stage): Promise<void> {
  const last = sends.at(-1)?.atMs ?? -Infinity;
  const waitMs = last + schedule.latestCommitMs + 2 * MINUTE - timeline.nowMs();
  if (waitMs > 0) await timeline.clock.sleep(waitMs);
}

const MOST_SWEEPS = 5;

/** The list that is only read comes to rest as the others do; a person looks at every hold, and knows that all is well now. */
async function restReading(stage: Stage): Promise<void> {
  const { session, timeline, kinds, alsoServed } = stage;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    const { kinds: dumps } = await session.atomically((tx) => dumpMirror(tx, kinds));
    const isEqual = alsoServed.every(({ world: { kind, ledger } }) => {
      const dump = dumps.get(kind.name);
      return dump !== undefined && unequal(ledger, dump).length === 0;
    });
    if (isEqual) return;
    for (const { name } of kinds) await session.atomically((tx) => decideHold(tx, name, 'approved'));
    await askForSweep(stage);
    await timeline.clock.sleep(16 * MINUTE);
  }
}

/** Gives up what still waits for a person, from the last one on: nothing of this day is sent on another. */
export async function closeBooks(stage: Stage): Promise<void> {
  const open = (await entriesOf(stage)).filter(({ state }) => !['done', 'abandoned'].includes(state));
  for (const { id } of open.reverse()) await abandonEntry(stage.session, id, stage.timeline.clock.now());
}
