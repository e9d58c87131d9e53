import { decideHold } from '../../src/mirror/records/deletion-store.ts';
import { unequal } from './checkers/rows.ts';
import { dumpChanges } from './dump.ts';
import { CALM } from './network.ts';
import { pullOnce } from './pull-once.ts';
import type { Recording } from './recording.ts';
import type { Schedule } from './schedule.ts';
import { setStage } from './stage.ts';
import type { RunOptions, Stage } from './stage.ts';

const HEALING_SWEEPS = 5;
/** Plays a schedule against the real code: busy and faulty first, then at rest, then healed. */
export async function runSchedule(schedule: Schedule, options: RunOptions): Promise<Recording> {
  const stage = setStage(schedule, options);
  for (let sweep = 0; sweep < schedule.sweeps; sweep++) {
    await pullOnce(stage);
    await options.afterPull?.(stage);
  }

  stage.network = { ...stage.network, ...CALM };
  for (let sweep = 0; sweep < schedule.quietSweeps; sweep++) await pullOnce(stage);
  const lying = schedule.quietSweeps > 0 ? (stage.pulls.at(-1) ?? null) : null;

  stage.timeline.pass(1); // What changes now had not changed when the last pull ended.
  for (const kind of stage.served) {
    kind.world.change('restore all');
    [kind.lie, kind.retrieve] = [{}, undefined];
  }
  for (let sweep = 0; sweep < HEALING_SWEEPS; sweep++) {
    await pullOnce(stage);
    await approveAll(stage);
    if (stage.served.every(({ world }) => isHealed(stage, world.kind.name))) break;
  }
  return {
    schedule,
    ledgers: ledgersOf(stage),
    pulls: stage.pulls,
    changes: await dumpChanges(stage.session),
    lying,
  };
}

/** A person looks at every hold, and knows that the service behaves now. */
async function approveAll({ session, schedule }: Stage): Promise<void> {
  for (const { kind } of schedule.kinds)
    await session.atomically((tx) => decideHold(tx, kind.name, 'approved'));
}

function isHealed({ pulls, served }: Stage, kind: string): boolean {
  const after = pulls.at(-1)?.after.kinds.get(kind);
  const ledger = served.find(({ world }) => world.kind.name === kind)?.world.ledger;
  return after !== undefined && ledger !== undefined && unequal(ledger, after).length === 0;
}

const ledgersOf = ({ served }: Stage): Recording['ledgers'] =>
  new Map(served.map(({ world }) => [world.kind.name, world.ledger]));
