import type { JsonObject } from '../../lib/json/json.ts';
import { FIRST_NAMES, SURNAMES } from '../vocabulary/people-and-places.ts';
import { BRANDS, JOBS, NOTES, TASKS } from '../vocabulary/trade.ts';
import { anyId } from './draw.ts';
import type { Draw } from './draw.ts';
import { NO_DATE, dayOf, fixed } from './text-values.ts';

const MOST_TASKS = 4;

/** A job for a client, or without a client yet (§2.2). */
export function generateProject(draw: Draw): JsonObject {
  const { random, id, index } = draw;
  const startDay = dayOf(draw);
  return {
    id,
    code: random.chance(0.1)
      ? null
      : `P${draw.company.dateOf(startDay).slice(2, 4)}-${String(index + 1).padStart(5, '0')}`,
    client_id: random.chance(0.08) ? 0 : anyId(draw, 'clients'),
    active: random.chance(0.7) ? 1 : 0,
    nom: `${random.pick(JOBS)} – ${random.pick(BRANDS)}, ${random.pick(SURNAMES)} (${index + 1})`,
    description: random.chance(0.3) ? null : `${random.pick(NOTES)}.`,
    tasks: Array.from({ length: random.integer(0, MOST_TASKS) }, (_, at) => taskOf(draw, startDay, at)),
  };
}

function taskOf({ random, id, company }: Draw, projectDay: number, at: number): JsonObject {
  const startDay = projectDay + at * 3;
  const isDone = random.chance(0.6);
  const estimated = random.integer(1, 32) * 25;
  return {
    id: id * MOST_TASKS + at,
    projet_id: id,
    active: isDone ? 0 : 1,
    creation_date: company.dateOf(projectDay),
    title: random.pick(TASKS),
    start_date: company.dateOf(startDay),
    end_date: isDone ? company.dateOf(startDay + random.integer(0, 5)) : NO_DATE,
    status: isDone ? 'done' : random.pick(['todo', 'in_progress']),
    time_estimated: fixed(estimated, 2),
    time_spent: fixed(isDone ? estimated + random.integer(-1, 4) * 25 : 0, 2),
    description: random.chance(0.5) ? '' : `${random.pick(NOTES)}.`,
    comments: random.chance(0.2) ? [{ author: random.pick(FIRST_NAMES), text: random.pick(NOTES) }] : [],
  };
}
