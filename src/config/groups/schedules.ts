import { CronPattern } from 'croner';
import { validate } from 'node-cron';
import * as z from 'zod';
import { group, orEmpty, setting, nullableSetting } from './setting.ts';
import * as a from './value-types.ts';

const SHAPE = 'a cron expression, or {kinds: [KIND, …] or all, cron}, or {kind, cron}';

const KINDS = 'a list of record kinds, or all';

const schedule = z
  .union(
    [
      z.string(),
      z.strictObject({
        kinds: z.union([z.literal('all'), z.array(a.kindNameText).min(1, KINDS)], KINDS),
        cron: z.string(),
      }),
      z.strictObject({ kind: a.kindNameText, cron: z.string() }),
    ],
    SHAPE,
  )
  .superRefine((value, context) => {
    const [path, cron] = typeof value === 'string' ? [[], value] : [['cron'], value.cron];
    if (!isCron(cron)) context.addIssue({ code: 'custom', message: CRON, path });
  });

const own = {
  timezone: setting(a.timezone.default('UTC'), 'Time zone of the schedules.'),
  all: setting(
    schedule.nullable().default(null),
    'The schedule of the kinds that no other one names; null for none. The default applies only where no schedule is set.',
  ),
};

/** Its other keys are free. */
export const schedules = setting(
  orEmpty(z.object(own, 'a map of settings').catchall(schedule), ({ timezone, ...set }) => {
    const isAnySet = Object.keys(set).length > 0;
    return { timezone, ...(isAnySet ? set : { all: { kinds: 'all', cron: '*/15 * * * *' } }) };
  }),
  'When to pull what: a record kind to a cron expression, or a name to {kinds, cron}.',
);

export const freshness = group({
  requestsPerMinute: setting(
    a.count.nullable().default(10),
    'Requests per minute that serve may make between sweeps; null makes none.',
  ),
});

export const monitor = group({
  pingUrl: setting(
    nullableSetting(a.webUrl),
    'http or https URL to request after a pull that leaves nothing scheduled unread, and with /fail after one that failed; null requests none.',
    { secret: 'value' },
  ),
});

const CRON =
  'a cron expression of five fields (minute, hour, day of month, month, day of week) of numbers, names of three letters (jan, sun), *, lists, rising ranges and steps: */15 * * * * is every 15 minutes';

/** Extensions of node-cron that crontab does not have. */
const EXTENSIONS = /[?#]|\blw\b|(?<![a-z])[lw](?![a-z])/i;

/** Whether a text is a cron expression of five fields. croner, which computes the slots, understands less than node-cron. */
function isCron(text: string): boolean {
  if (text.trim().split(/\s+/).length !== 5 || EXTENSIONS.test(text) || !validate(text)) return false;
  try {
    new CronPattern(text.trim(), undefined, { mode: '5-part' });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
