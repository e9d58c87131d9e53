import type { Mistake } from './mistake.ts';

const withFile =
  (text: string): Mistake['argv'] =>
  ({ file }) => ['status', '--config', file('settings.yaml', text)];

export const SETTINGS_FILE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a settings file that is not there',
    argv: ['status', '--config', '/nowhere/settings.yaml'],
    code: 2,
    message: ['/nowhere/settings.yaml', 'is not there', 'config/default.yaml documents every setting'],
  },
  {
    title: 'a settings file that is no YAML',
    argv: withFile('source:\n  concurrency: [4\n'),
    code: 2,
    message: ['settings.yaml:3:1', 'not valid YAML'],
  },
  {
    title: 'a misspelt setting',
    argv: withFile('source:\n  concurency: 4\n'),
    code: 2,
    message: ['source.concurency', 'settings.yaml', 'did you mean source.concurrency?'],
  },
];

export const VARIABLE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a misspelt variable',
    argv: ['status'],
    env: { BMS__SOURCE__CONCURRENCE: '4' },
    code: 2,
    message: ['BMS__SOURCE__CONCURRENCE', 'unknown setting', 'did you mean BMS__SOURCE__CONCURRENCY?'],
  },
  {
    title: 'a misspelt plain variable',
    argv: ['status'],
    env: { BMS_TOKN: 'x' },
    code: 2,
    message: ['BMS_TOKN', 'unknown variable', 'did you mean BMS_TOKEN?'],
  },
  {
    title: 'a list that is no JSON',
    argv: ['status'],
    env: { BMS__WEBHOOKS__RETRY_SECONDS: '[300,1800' },
    code: 2,
    message: ['BMS__WEBHOOKS__RETRY_SECONDS', '"[300,1800"', 'not valid JSON', 'a list of seconds'],
  },
];

const scheduled = (cron: string): NonNullable<Mistake['env']> => ({
  BMS__SCHEDULES: JSON.stringify({ clients: cron }),
});

export const CRON_MISTAKES: readonly Mistake[] = [
  {
    title: 'a cron expression with seconds',
    argv: ['status'],
    env: scheduled('0 */15 * * * *'),
    code: 2,
    message: ['schedules.clients', '"0 */15 * * * *"', 'five fields', 'no seconds'],
  },
  {
    title: 'a schedule of a kind that there is not',
    argv: ['status'],
    env: { BMS__SCHEDULES: JSON.stringify({ client: '*/15 * * * *' }) },
    code: 2,
    message: ['schedules.client', 'did you mean clients?'],
  },
];

const zoned = (zone: string): NonNullable<Mistake['env']> => ({ BMS__SCHEDULES__TIMEZONE: zone });

export const ZONE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a city alone',
    argv: ['status'],
    env: zoned('Toronto'),
    code: 2,
    message: ['schedules.timezone', '"Toronto"', 'did you mean America/Toronto?'],
  },
];
