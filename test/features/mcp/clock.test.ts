import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.ts';
import { askableMirror, DATABASES } from './stage.ts';

describe.each(DATABASES)('%s', (database) => {
  test('query refuses the clock of the database and names the day of the company', async () => {
    const { ask } = await askableMirror(database, {
      clock: fakeClock('2026-03-01T03:00:00Z'),
      timezone: 'America/Toronto',
    });
    const dated = (expression: string) =>
      ask('query', { sql: `select id from bi_clients where code > ${expression}` });
    for (const expression of [
      'current_date',
      "date('now')",
      'NOW ()',
      'Current_Timestamp',
      "'a''b' || current_date",
    ])
      await expect(dated(expression), expression).rejects.toMatchObject({
        code: 'mcp.refused',
        message: expect.stringContaining("'2026-02-28'") as string,
      });
    expect(await dated("'knows current_date'")).toMatchObject({ rows: [], today: '2026-02-28' });
  });
});
