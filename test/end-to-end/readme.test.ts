import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { NAMED_CLIENT, readmeLines, walk } from './readme-walk.ts';

/** Where each walk leaves its transcript. */
const TRANSCRIPTS = 'coverage';

test.each(['sqlite', 'postgres'] as const)(
  'the walk of the README does what it says, typed as it is written, on %s',
  async (database) => {
    await using service = await startSandbox({ size: 40 });
    service.world.insert('clients', { id: NAMED_CLIENT, code: 'ZZ-1', name: 'Ada', phone: '418 555-0100' });
    const url = database === 'postgres' ? await freshDatabaseUrl() : '';
    const of = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
    const settings = { ...of, CLIENT: String(NAMED_CLIENT) };

    const { code, transcript } = await walk(readmeLines(database), { settings, cwd: tempFolder() });

    mkdirSync(TRANSCRIPTS, { recursive: true });
    writeFileSync(`${TRANSCRIPTS}/readme-${database}.txt`, transcript);
    expect({ code, transcript }).toEqual({ code: 0, transcript });
    expect(transcript).toMatch(/\$ npm start -- pull\n[^$]*\bclients\b[^\n]* 41\b/);
    expect(transcript).toContain(database === 'postgres' ? 'PostgreSQL' : 'no mirror at'); // Of doctor.
    // Both writes arrived once, and with the content that was typed.
    const created = service.world
      .ids('clients')
      .map((id) => service.world.get('clients', id))
      .filter((client) => client?.['code'] === 'C-1');
    expect(created).toEqual([expect.objectContaining({ name: 'Garage Tremblay' })]);
    expect(service.world.get('clients', NAMED_CLIENT)).toMatchObject({ phone: '418 555-0199' });
    expect(transcript).not.toMatch(/\n\s+at \S/); // A stack trace.
  },
);
