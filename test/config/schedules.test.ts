import { describe, expect, test } from 'vitest';
import { schedulesOf } from '../../src/app/schedules.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { refusal, tempFile } from './support.ts';

const ENV = { BMS__KINDS: '{"sales":{"list":"/s"},"old":{"list":"/o","order":"created, oldest first"}}' };

const schedulesIn = (yaml: string) =>
  schedulesOf(loadConfig({ env: ENV, file: tempFile('settings.yaml', yaml) })).map(
    ({ name, timezone, kinds }) => ({ name, timezone, kinds }),
  );

const refused = (schedules: string): string =>
  refusal({ env: ENV, file: tempFile('settings.yaml', `schedules: { ${schedules} }\n`) });

test('a schedule is a kind and its cron expression, or a name for several kinds', () => {
  const yaml = `
schedules:
  timezone: Europe/Paris
  clients: '*/10 * * * *'
  sales: '0 4 * * *'
  some: { kinds: [clients, sales], cron: '0 1 * * *' }
  nightly: { kinds: all, cron: '0 2 * * *' }
  alone: { kind: products, cron: '0 * * * *' }
`;
  const timezone = 'Europe/Paris';
  const every = [...LISTED_KINDS.map(({ name }) => name), 'sales', 'old'];
  expect(schedulesIn(yaml)).toEqual([
    { name: 'clients', timezone, kinds: ['clients'] },
    { name: 'sales', timezone, kinds: ['sales'] },
    { name: 'some', timezone, kinds: ['clients', 'sales'] },
    { name: 'nightly', timezone, kinds: every },
    { name: 'alone', timezone, kinds: ['products'] },
  ]);
});

describe('without a schedule', () => {
  const all = { name: 'all', timezone: 'UTC', kinds: LISTED_KINDS.map(({ name }) => name) };
  const inForce = (env: Readonly<Record<string, string>>) => schedulesOf(loadConfig({ env }));

  test('all kinds are pulled every 15 minutes', () => {
    expect(inForce({})).toEqual([{ ...all, cron: '*/15 * * * *' }]);
  });

  test('schedules.all changes that, null turns it off', () => {
    expect(inForce({ BMS__SCHEDULES__ALL: '0 * * * *' })).toEqual([{ ...all, cron: '0 * * * *' }]);
    expect(inForce({ BMS__SCHEDULES__ALL: '{"kinds":["clients"],"cron":"5 * * * *"}' })).toEqual([
      { ...all, kinds: ['clients'], cron: '5 * * * *' },
    ]);
    expect(inForce({ BMS__SCHEDULES__ALL: 'null' })).toEqual([]);
  });
});

describe('beside another schedule', () => {
  const inForce = (schedules: string) =>
    schedulesIn(`schedules: ${schedules}\n`).map((one) => [one.name, one.kinds]);
  const others = [...LISTED_KINDS.map(({ name }) => name), 'sales', 'old'].filter(
    (name) => name !== 'clients',
  );
  const hourly = `clients: '0 * * * *'`;

  test('a written schedules.all is for the kinds that no other one names', () => {
    expect(inForce(`{ ${hourly}, all: '5 * * * *' }`)).toEqual([
      ['clients', ['clients']],
      ['all', others],
    ]);
    const limited = `all: { kinds: [clients, products], cron: '5 * * * *' }`;
    expect(inForce(`{ ${hourly}, ${limited} }`)).toEqual([
      ['clients', ['clients']],
      ['all', ['products']],
    ]);
  });

  test('it has no slots where none is left', () => {
    const limited = `all: { kinds: [clients], cron: '5 * * * *' }`;
    expect(inForce(`{ ${hourly}, ${limited} }`)).toEqual([['clients', ['clients']]]);
    expect(inForce(`{ nightly: { kinds: all, cron: '0 1 * * *' }, all: '5 * * * *' }`)).toHaveLength(1);
  });

  test('the built-in one does not apply', () => {
    expect(inForce(`{ ${hourly} }`)).toEqual([['clients', ['clients']]]);
  });
});

test('days of the month and days of the week may both be given: either is meant, as in a crontab', () => {
  expect(schedulesIn(`schedules: { clients: '0 9 13 * 5' }`)).toHaveLength(1);
});

test.each([
  [`clients: often`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 0 * * * *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '@daily'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '61 * * * *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 0 30 2 *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 22-2 * * *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 0 * * monday'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '*/90 * * * *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 0 L * *'`, 'schedules.clients', 'a cron expression of five fields'],
  [`clients: '0 0 ? * 1'`, 'schedules.clients', 'a cron expression of five fields'],
  [`night: { kinds: all, cron: '0 25 * * *' }`, 'schedules.night.cron', 'a cron expression of five fields'],
  [`night: { kinds: all }`, 'schedules.night', '{kinds: [KIND, …] or all, cron}'],
  [`night: { kinds: [], cron: '* * * * *' }`, 'schedules.night.kinds', 'a list of record kinds, or all'],
  [`night: { kinds: all, pages: 2, cron: '* * * * *' }`, 'schedules.night.pages', 'unknown setting'],
  [`client: '* * * * *'`, 'schedules.client', 'unknown record kind "client"; did you mean clients?'],
  [`a: { kind: wares, cron: '* * * * *' }`, 'schedules.a', 'unknown record kind "wares"'],
  [`a: { kinds: [clients, sale], cron: '* * * * *' }`, 'schedules.a', 'did you mean sales?'],
  [`sales_products: '* * * * *'`, 'schedules.sales_products', 'the service has no list of sales_products'],
  [`A-1: { kind: products, cron: '* * * * *' }`, 'schedules.A-1', 'expected the key to be a name'],
])('{ %s } is refused', (schedules, place, why) => {
  const text = refused(schedules);
  expect(text).toContain(`${place} (from `);
  expect(text).toContain(why);
});
