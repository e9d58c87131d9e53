import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** What a tool reads, and where to. */
export interface Load {
  readonly url: string;
  /** A PostgreSQL database of its own. */
  readonly database: string;
  /** Keeps the tool's state and settings between its loads. */
  readonly folder: string;
}

/** A tool that loads the clients. */
export interface Tool {
  readonly name: string;
  readonly command: (load: Load) => { readonly script: string; readonly env?: Record<string, string> };
  /** The ids that a reader of its table takes for the clients of the service. */
  readonly ids: string;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** @param environments The folder that `set-up.sh` has filled. */
export function toolsOf(environments: string): readonly Tool[] {
  const python = (tool: string): string => join(environments, tool, 'bin/python');
  const dlt = (mode: string): Tool => ({
    name: `dlt, ${mode}`,
    command: ({ url, database, folder }) => ({
      script: `${python('dlt')} ${here('load_dlt.py')} ${url} ${database} ${mode} ${folder}`,
    }),
    ids: 'select id from dlt.clients',
  });
  return [
    {
      name: 'bms-sync',
      command: ({ url, database }) => ({
        script: `${process.execPath} ${here('../../dist/main.js')} pull clients --json`,
        env: {
          BMS_BASE_URL: url,
          BMS_TOKEN: 'sandbox-token',
          DATABASE_URL: database,
          BMS__DELETIONS__GRACE_SECONDS: '0', // By default a record must stay gone for a quarter of an hour.
        },
      }),
      ids: 'select id from bi_clients',
    },
    dlt('replace'),
    dlt('merge'),
    {
      name: 'Singer',
      command: ({ url, database, folder }) => {
        writeFileSync(join(folder, 'tap.json'), JSON.stringify({ api_url: url }));
        writeFileSync(
          join(folder, 'target.json'),
          JSON.stringify({
            sqlalchemy_url: database.replace('postgres:', 'postgresql+psycopg:'),
            default_target_schema: 'singer',
          }),
        );
        const tap = `${python('singer')} ${here('tap_clients.py')} --config ${folder}/tap.json`;
        return {
          script: `${tap} | ${environments}/singer/bin/target-postgres --config ${folder}/target.json`,
        };
      },
      ids: 'select id from singer.clients',
    },
    {
      name: 'PyAirbyte',
      command: ({ url, database, folder }) => {
        const { hostname, port, username, password, pathname } = new URL(database);
        const parts = [url, hostname, port, username, password, pathname.slice(1)].join(' ');
        return {
          script: `cd ${folder} && ${python('airbyte')} ${here('load_airbyte.py')} ${parts}`,
          env: { AIRBYTE_PROJECT_DIR: folder, AIRBYTE_OFFLINE_MODE: '1' },
        };
      },
      ids: 'select id from airbyte.clients',
    },
  ];
}
