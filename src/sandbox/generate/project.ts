import type { JsonObject, Json } from '../../lib/json/json.ts';
import { BRANDS, JOBS, NOTES, TASKS, FIRST_NAMES, SURNAMES } from './vocabulary.ts';
import { anyId } from './draw.ts';
import type { Draw, Random } from './draw.ts';
import { NO_DATE, dayOf, fixed, timeText } from './text-values.ts';

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

const FIRST_EMPLOYEE = 31;
const EMPLOYEES = 18;
const FIRST_APPOINTMENT = 9001;

/** Hours that an employee worked (§2.8): `ptotal` is the time between start and end, and 0.00 while the punch is open. */
export function generatePunch(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const start = random.integer(26, 40) * 15;
  const quarters = random.integer(2, 34);
  const isOpen = random.chance(0.03);
  return {
    id,
    appointment_id: random.chance(0.2) ? 0 : FIRST_APPOINTMENT + Math.floor(index / 2),
    user_id: FIRST_EMPLOYEE + random.integer(0, EMPLOYEES - 1),
    date: company.dateOf(dayOf(draw)),
    start_time: timeText(start),
    end_time: isOpen ? missingTime(random) : timeText(start + quarters * 15),
    ptotal: fixed(isOpen ? 0 : quarters * 25, 2),
    note: random.chance(0.6) ? null : `${random.pick(NOTES)}.`,
    system_id: company.systemId,
  };
}

/** No time is null by the documentation, and now and then an empty text in the wild. */
const missingTime = (random: Random): Json => (random.chance(0.3) ? '' : null);
