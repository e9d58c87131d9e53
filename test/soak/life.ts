import { actAsPerson, pushCreate, pushUpdate } from '../outbound-simulation/people.ts';
import { times } from '../outbound-simulation/run-schedule.ts';
import type { Service, Stage } from '../outbound-simulation/stage.ts';
import { BUSY_MS } from './plan.ts';
import { drawSpells } from './spells.ts';
import type { Soak } from './stage.ts';

/** Pushes come one by one, or many at once. */
const RUSH = { share: 0.4, forMs: 4_000, count: 3 } as const;
/** Numbers of what people do themselves: no content of theirs is equal to one that is pushed. */
const PEOPLES_FROM = 1_000_000;
const DAYS_NUMBERS = 10_000;

/** The busy hours of a day: people, applications and the service's own life, with whatever goes wrong. */
export async function liveDay(soak: Soak, day: number): Promise<void> {
  const { stage, plan, weather } = soak;
  const { random, timeline } = stage;
  const first = day * DAYS_NUMBERS;
  soak.today.hasEquals = day % 2 === 0;
  const rushes = times(RUSH.count, () => random.integer(0, BUSY_MS - RUSH.forMs));
  const pushAt = (): number =>
    random.chance(RUSH.share)
      ? random.pick(rushes) + random.integer(0, RUSH.forMs)
      : random.integer(0, BUSY_MS);
  const at = async (ms: number, act: () => Promise<void> | void): Promise<void> => {
    await timeline.clock.sleep(ms);
    timeline.stir();
    await act();
  };
  drawSpells(stage, weather, plan.spells);
  await Promise.all([
    ...times(plan.creates, (number) => at(pushAt(), () => pushCreate(stage, first + number))),
    ...times(plan.updates, (number) => at(pushAt(), () => pushUpdate(stage, first + plan.creates + number))),
    ...times(plan.peoplesActs, (number) =>
      at(random.integer(0, BUSY_MS), () => {
        actAsPerson(stage, PEOPLES_FROM + first + number);
        tidyUp(soak);
      }),
    ),
    timeline.clock.sleep(BUSY_MS),
  ]);
}

/** A person deletes a record of each list that has grown too long; never one that we may still be asking after. */
function tidyUp({ stage, plan }: Soak): void {
  for (const service of stage.services) {
    const ids = service.world.ids();
    const free = ids.filter((id) => !isOfToday(stage, service, id));
    if (ids.length > plan.rows && free.length > 0) service.world.remove(stage.random.pick(free), 'person');
  }
}

function isOfToday({ sends, intents }: Stage, { name }: Service, id: string): boolean {
  return (
    sends.some(({ kind, committed }) => kind === name && committed?.id === id) ||
    [...intents.values()].some(({ kind, recordId }) => kind === name && recordId === id)
  );
}
