import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaultYaml, settingsTable } from '../../scripts/settings-texts.ts';
import { loadConfig } from '../../src/config/load-config.ts';

const DEFAULT_YAML = join(import.meta.dirname, '../../config/default.yaml');

test("config/default.yaml is the schema's: `npm run docs -- settings` writes it", () => {
  expect(readFileSync(DEFAULT_YAML, 'utf8')).toBe(defaultYaml());
});

test('config/default.yaml has every setting with its default, and loads as it stands', () => {
  const defaults = loadConfig({ env: {} });
  expect(parse(readFileSync(DEFAULT_YAML, 'utf8'))).toEqual(defaults);
  expect(loadConfig({ env: {}, file: DEFAULT_YAML })).toEqual({ ...defaults, calendarZone: 'UTC' }); // It is named there.
});

test('the table has a row for each setting, with its variables and default', () => {
  const rows = settingsTable().split('\n');
  expect(rows).toContain(
    '| `source.token` | `BMS_TOKEN`, `BMS_TOKEN_FILE` | Bearer token of the service; ' +
      'required by every command that calls it. | unset |',
  );
  expect(rows).toContain(
    '| `outbound.settleSeconds` | `BMS__OUTBOUND__SETTLE_SECONDS` | ' +
      'Delay after a send with an unknown outcome. | `300` |',
  );
});

test('every setting has its row', () => {
  const named = settingsTable()
    .split('\n')
    .slice(2)
    .map((row) => /`([^`]+)`/.exec(row)?.[1] ?? row);
  const expected = [
    'database.url',
    'queue.url',
    'server.adminToken',
    'server.host',
    'server.names',
    'server.publicUrl',
    'server.port',
    'server.trustedHeader',
    'log.level',
    'sweep.repeatBelowPages',
    'deletions.graceSeconds',
    'deletions.holdAbove.rows',
    'deletions.holdAbove.share',
    'deletions.releaseHeldAfterHours',
    'outbound.writes',
    'outbound.settleSeconds',
    'outbound.patienceSeconds',
    'plans.approvals',
    'schedules',
    'schedules.timezone',
    'schedules.all',
    'kinds',
    'includeKinds',
    'diff.ignoreFields',
    'privacy.exclude',
    'freshness.requestsPerMinute',
    'webhooks.allowHosts',
    'webhooks.retrySeconds',
    'mail.url',
    'mail.from',
    'mail.digestAt',
    'alerts',
    'monitor.pingUrl',
    'bi.readerRole',
    'calendar.yearBegins',
    'reports.sold',
    'reports.owed',
    'reports.bought',
    'mcp.token',
    'language',
    'retention.changesDays',
    'retention.runsDays',
    'retention.outboxDays',
    'retention.issuesDays',
    'retention.deliveriesDays',
    'shutdown.graceSeconds',
  ];
  expect(named.filter((name) => !name.startsWith('source.'))).toEqual(expected);
  expect(named).toHaveLength(expected.length + 10);
});
