import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/settings.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Io } from '../print/io.ts';

export const DEMO_DATABASE = './data/demo.db';

/** The parts of a demo: a simulated service, the settings of a mirror of it, and the terminal. */
export interface DemoStage {
  readonly sandbox: Sandbox;
  readonly config: Config;
  readonly logger: Logger;
  readonly io: Io;
  /** Prints one line, or the lines of a table; nothing where `--json` was asked for. */
  readonly say: (text: string | readonly string[]) => void;
}

/** The demo needs no settings, and must not touch the mirror or service that the environment names. */
export function demoConfig({ url, token }: Pick<Sandbox, 'url' | 'token'>): Config {
  return loadConfig({
    env: {},
    flags: {
      source: { baseUrl: url, token },
      database: { url: `file:${DEMO_DATABASE}` },
      log: { level: 'error' }, // The story shows lost and refused requests.
      // Proofs that take minutes by default, in the time of a demo.
      deletions: { graceSeconds: 0.2 },
      outbound: { writes: 'on', settleSeconds: 0.2, lookScheduleSeconds: [0.5, 1, 2, 4, 8, 16] },
      freshness: { requestsPerMinute: null }, // The story says itself when it pulls.
      shutdown: { graceSeconds: 5 },
      server: { adminToken: randomBytes(32).toString('base64url'), port: 0 },
    },
  });
}
