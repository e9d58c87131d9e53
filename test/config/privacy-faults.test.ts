import { expect, test } from 'vitest';
import { allKinds, refuseUnknownFields } from '../../src/config/known-kinds.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { refusal } from './support.ts';

const env = (exclude: Readonly<Record<string, readonly string[]>>, more = {}) => ({
  BMS__PRIVACY__EXCLUDE: JSON.stringify(exclude),
  ...more,
});

test('excluded fields are gone from their kind, from its fields and from its hints', async () => {
  const config = loadConfig({ env: env({ clients: ['email', 'contacts'], bookings: ['contact_phone'] }) });
  const clients = allKinds(config).find(({ name }) => name === 'clients');
  expect(clients?.fields.map(({ name }) => name)).not.toContain('email');
  expect(clients?.excluded?.map(({ name, type }) => [name, type])).toEqual([
    ['email', 'text'],
    ['contacts', 'json'],
  ]);
  const bookings = allKinds(config).find(({ name }) => name === 'bookings');
  expect(bookings?.hints.map(({ name }) => name)).not.toContain('contact_phone');
  expect(allKinds(config).find(({ name }) => name === 'products')).not.toHaveProperty('excluded');
  await refuseUnknownFields(config, () => expect.unreachable());
});

test.each([
  [{ clients: ['id'] }, 'privacy.exclude.clients', 'id cannot be excluded: it identifies the record'],
  [
    { clients: ['email', 'code'] },
    'privacy.exclude.clients',
    'code cannot be excluded: it belongs to the natural key',
  ],
  [{ punches: ['start_time'] }, 'privacy.exclude.punches', 'it belongs to the natural key of punches'],
  [{ punches: ['system_id'] }, 'privacy.exclude.punches', 'it identifies the company'],
  [{ sales: ['number'] }, 'privacy.exclude.sales', 'it belongs to the natural key of sales'],
  [{ client: ['email'] }, 'privacy.exclude.client', 'unknown record kind "client"; did you mean clients?'],
])('%j is refused', (exclude, setting, reason) => {
  const further = {
    BMS__KINDS: '{"sales":{"list":"/s","naturalKey":["number"],"fields":{"number":"text"}}}',
  };
  const message = refusal({ env: env(exclude, further) });
  expect(message).toContain(setting);
  expect(message).toContain(reason);
});

test.each([
  ['diff.ignoreFields.clients', { BMS__DIFF__IGNORE_FIELDS: '{"clients":["fax","tax"]}' }],
  ['privacy.exclude.clients', env({ clients: ['email', 'tax'] })],
  ['alerts', { BMS__ALERTS: '[{"kind":"clients","field":"tax","changed":true}]' }],
])('a misspelt field of %s is refused with the nearest name', async (setting, variables) => {
  const config = loadConfig({ env: variables });
  await expect(refuseUnknownFields(config, () => Promise.resolve(new Map()))).rejects.toMatchObject({
    code: 'settings.unknown_field',
    message: `${setting} has tax, which is not a field of clients; did you mean fax?`,
  });
});

test('a kind that an alert misspells is refused with the nearest name', () => {
  const message = refusal({ env: { BMS__ALERTS: '[{"kind":"cleints","field":"fax","changed":true}]' } });
  expect(message).toContain('unknown record kind "cleints"; did you mean clients?');
});

test('a name that neither documentation nor settings show is left for the mirror to judge', async () => {
  const config = loadConfig({ env: env({ clients: ['mail'], vehicle_brands: ['logo'] }) });
  const seen = new Map([['clients', ['mail']]]);
  const judged = refuseUnknownFields(config, (kinds) => {
    expect(kinds).toEqual(['clients', 'vehicle_brands']);
    return Promise.resolve(seen);
  });
  await expect(judged).rejects.toMatchObject({
    code: 'settings.unknown_field',
    message: expect.stringContaining('privacy.exclude.vehicle_brands has logo') as string,
  });
  const { privacy } = loadConfig({ env: env({ clients: ['mail'] }) });
  await refuseUnknownFields({ ...config, privacy }, () => Promise.resolve(seen));
});
