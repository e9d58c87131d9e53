import { validateDetailed } from 'node-cron';

const FIVE_FIELDS =
  'a cron expression of five fields: minute, hour, day of month, month, day of week; a schedule has no seconds: */15 * * * * is every 15 minutes';
const PLAIN_FIELDS = 'a cron expression of numbers, names, *, lists, ranges and steps';
const FIELD_NAMES: Readonly<Record<string, string>> = {
  minute: 'minute exists (0 to 59)',
  hour: 'hour exists (0 to 23)',
  dayOfMonth: 'day of month exists (1 to 31)',
  month: 'month exists (1 to 12, or jan to dec)',
  dayOfWeek: 'day of week exists (0 to 7, or sun to sat)',
};

/** Describes the expected form for a text that is not a cron expression of five fields; null if it is one. */
export function cronFault(text: string): string | null {
  const written = text.trim().split(/\s+/);
  if (written.length !== 5) return FIVE_FIELDS;
  const { fields, errors } = validateDetailed(text);
  if (fields === undefined) return expectedIn(errors[0]?.field);
  // node-cron's extensions L, W, # and ? are not part of crontab syntax.
  const isPlain = [...fields.dayOfMonth, ...fields.dayOfWeek].every((value) => typeof value === 'number');
  return isPlain && !written.includes('?') ? null : PLAIN_FIELDS;
}

function expectedIn(field = ''): string {
  const name = FIELD_NAMES[field];
  return name === undefined ? FIVE_FIELDS : `a cron expression whose ${name}`;
}
