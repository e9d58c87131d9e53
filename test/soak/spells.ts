import type { Stage } from '../outbound-simulation/stage.ts';
import type { Lie, Scene } from '../simulation/list-page.ts';
import { personality } from '../simulation/personalities.ts';
import type { PersonalityName } from '../simulation/personalities.ts';
import type { ServedKind } from '../simulation/service.ts';
import { BUSY_MS } from './plan.ts';
import { TROUBLES } from './weather.ts';
import type { Trouble, Weather } from './weather.ts';

const MINUTE = 60_000;
const LONGEST_MINUTES: Readonly<Record<Trouble, number>> = { outage: 25, storm: 120, slow: 60 };
const LONGEST_STEP_MS = 10 * MINUTE;

/** Lies that a service may begin to tell any day of a list whose records can be asked for one by one. */
const LIES: readonly PersonalityName[] = [
  ...(['unstableTies', 'ignorePage', 'clampToLast', 'clampedPerPage', 'clampOutputOnly'] as const),
  ...(['staleTotal', 'archivedInTotal', 'lastPageLies', 'badMeta', 'holes', 'longerPage'] as const),
  ...(['duplicateIds', 'laggingList', 'blink', 'infinitePages', 'retrieveIsWebPage'] as const),
];

/** Has troubles of every sort come and go in the busy hours that begin now. */
export function drawSpells(stage: Stage, weather: Weather, count: number): void {
  for (let spell = 0; spell < count; spell++) {
    for (const trouble of TROUBLES) meet(stage, weather, trouble);
    for (const served of stage.alsoServed) lie(stage, served);
    bar(stage);
  }
  stepClock(stage);
}

interface Spell {
  readonly leastMinutes?: number;
  readonly longestMinutes: number;
  readonly begin: () => void;
  readonly end: () => void;
}

/** It ends before the busy hours do. */
function once({ random, timeline }: Stage, { leastMinutes = 1, longestMinutes, begin, end }: Spell): void {
  const forMs = random.integer(leastMinutes, longestMinutes) * MINUTE;
  const fromMs = random.integer(0, BUSY_MS - forMs);
  timeline.after(fromMs, begin);
  timeline.after(fromMs + forMs, end);
}

function meet(stage: Stage, { on }: Weather, trouble: Trouble): void {
  once(stage, {
    longestMinutes: LONGEST_MINUTES[trouble],
    begin: () => {
      on.push(trouble);
      stage.say(`— ${trouble} begins`);
    },
    end: () => {
      on.splice(on.indexOf(trouble), 1);
      stage.say(`— ${trouble} ends`);
    },
  });
}

function lie(stage: Stage, served: ServedKind): void {
  const { random, timeline, say } = stage;
  once(stage, {
    ...{ leastMinutes: 60, longestMinutes: 240 },
    begin: () => {
      const name = random.pick(LIES);
      const told = personality(name);
      Object.assign(served, { lie: since(timeline.nowMs(), told.lie(random)), retrieve: told.retrieve });
      say(`— the service lies: ${name}`);
    },
    end: () => {
      beHonest(served);
      say('— the service is honest');
    },
  });
}

export function beHonest(served: ServedKind): void {
  Object.assign(served, { lie: {}, retrieve: undefined });
}

/** A lie reckons from when its service began: here that is when the lie begins. */
function since(fromMs: number, told: Lie): Lie {
  const moved = (scene: Scene): Scene => {
    const { world, nowMs } = scene;
    return {
      ...scene,
      nowMs: nowMs - fromMs,
      world: { ...world, listAt: (ms) => world.listAt(ms + fromMs) },
    };
  };
  return {
    ...(told.list && { list: (list, scene) => told.list?.(list, moved(scene)) ?? list }),
    ...(told.total && { total: (total, scene) => told.total?.(total, moved(scene)) ?? total }),
    ...(told.place && { place: (draft, scene) => told.place?.(draft, moved(scene)) ?? {} }),
    ...(told.rows && { rows: (draft, scene) => told.rows?.(draft, moved(scene)) ?? draft.rows }),
    ...(told.meta && { meta: (meta, draft, scene) => told.meta?.(meta, draft, moved(scene)) }),
    ...(told.data && { data: (draft, scene) => told.data?.(draft, moved(scene)) }),
  };
}

/** The token may not write a kind for a while. */
function bar(stage: Stage): void {
  const { random, services, barred, say } = stage;
  const { name } = random.pick(services);
  once(stage, {
    longestMinutes: 30,
    begin: () => {
      barred.add(name);
      say(`— ${name} barred`);
    },
    end: () => {
      barred.delete(name);
      say(`— ${name} not barred any more`);
    },
  });
}

/** The clock goes wrong, and is put right. */
function stepClock(stage: Stage): void {
  const { random, timeline, say } = stage;
  const ms = random.integer(-LONGEST_STEP_MS, LONGEST_STEP_MS);
  const step = (by: number): void => {
    timeline.stepClock(by);
    say(`— the clock is set by ${by} ms`);
  };
  once(stage, {
    longestMinutes: 120,
    begin: () => {
      step(ms);
    },
    end: () => {
      step(-ms);
    },
  });
}
