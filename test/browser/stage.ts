import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import { serve } from '../../src/app/serve.ts';
import type { OpenDashboard } from '../../src/app/serve-http.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/settings.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { findProgram } from '../support/apt.ts';

/** A sandbox, the service over it, and a browser. */
export interface BrowserStage {
  readonly sandbox: Sandbox;
  readonly dashboard: OpenDashboard;
  readonly token: string;
  /** Opens a window that has not signed in. */
  readonly open: (options?: BrowserContextOptions) => Promise<BrowserContext>;
  /** Opens a window, signs in by a link, and returns its page. */
  readonly signedIn: (options?: BrowserContextOptions) => Promise<Page>;
  /** Pulls these kinds, and waits for the end of the run. */
  readonly pull: (...kinds: readonly string[]) => Promise<void>;
  /** Asks the API as a program does. */
  readonly api: (path: string, body?: object, key?: string) => Promise<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = findProgram({
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    package: 'chromium',
    what: 'Chromium',
  });
  const isRoot = userInfo().uid === 0; // Chromium's own sandbox refuses root.
  return chromium.launch({ executablePath, args: isRoot ? ['--no-sandbox'] : [] });
}

interface StageOptions {
  readonly size?: number;
  readonly timezone?: string;
  /** The setting `plans.approvals`. */
  readonly approvals?: number;
  /** The address of the mirror; absent = a new file. */
  readonly database?: string;
  /** What happened in the mirror before the service starts. */
  readonly before?: (sandbox: Sandbox, config: Config) => Promise<void>;
}

/** A small company whose first pull has ended. */
export async function openStage({
  size = 60,
  timezone = 'UTC',
  approvals = 0,
  database,
  before,
}: StageOptions = {}): Promise<BrowserStage> {
  const browser = await openBrowser();
  const sandbox = await startSandbox({ size });
  const folder = mkdtempSync(join(tmpdir(), 'bms-browser-'));
  const token = randomBytes(32).toString('base64url');
  const ended = new AbortController();
  let serving: Promise<void> = Promise.resolve();
  const logger = createLogger({
    level: 'silent',
    secrets: [token],
    destination: { write: () => undefined },
  });
  const config = loadConfig({
    env: {},
    flags: {
      ...settings(sandbox, database ?? `file:${join(folder, 'mirror.db')}`, { token, timezone }),
      plans: { approvals },
    },
  });
  await before?.(sandbox, config);
  const dashboard = await new Promise<OpenDashboard>((onListening, reject) => {
    serving = serve(config, {
      logger,
      roles: ['pulls', 'outbound', 'webhooks', 'http'],
      signal: ended.signal,
      onListening,
    });
    serving.catch(reject);
  });
  const api = apiCalls(dashboard, token);
  const open = (options: BrowserContextOptions = {}): Promise<BrowserContext> => browser.newContext(options);
  const pull = pulling(api);
  await pull();
  return {
    sandbox,
    dashboard,
    token,
    api,
    open,
    pull,
    signedIn: async (options) => {
      const page = await (await open(options)).newPage();
      await page.goto(dashboard.signInLink);
      return page;
    },
    close: async () => {
      await browser.close();
      ended.abort();
      await serving;
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function settings(
  { url, token }: Sandbox,
  mirrorUrl: string,
  { token: adminToken, timezone }: Readonly<Record<'token' | 'timezone', string>>,
): object {
  return {
    source: { baseUrl: url, token },
    database: { url: mirrorUrl },
    server: { adminToken, port: 0 },
    schedules: { timezone, all: { kinds: 'all', cron: '0 * * * *' } }, // The test pulls by itself.
    freshness: { requestsPerMinute: null },
    deletions: { graceSeconds: 0.05 },
    webhooks: { allowHosts: ['127.0.0.1'] },
    outbound: { writes: 'on', settleSeconds: 0.1, patienceSeconds: 2 },
  };
}

function apiCalls({ address }: OpenDashboard, token: string): BrowserStage['api'] {
  return async (path, body, key) => {
    const answer = await fetch(address + path, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
}

const STEP_MS = 50;

/** Polls for something without an event, for a while. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  throw new Error('What was waited for did not come.');
}

function pulling(api: BrowserStage['api']): BrowserStage['pull'] {
  return async (...kinds) => {
    const { runId } = await api('/v1/pulls', { kinds });
    await eventually(async () => {
      const { state } = await api(`/v1/runs/${String(runId)}`);
      return state !== 'requested' && state !== 'running';
    });
  };
}
