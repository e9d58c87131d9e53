import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Random } from '../random.ts';
import { NOTES } from '../vocabulary/trade.ts';
import type { Draw } from './draw.ts';
import { dayOf, fixed, timeText } from './text-values.ts';

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
