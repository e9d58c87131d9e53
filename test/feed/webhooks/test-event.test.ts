import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { DATABASES, mirrorIn } from '../support.ts';
import { document, run } from '../../support/command-line.ts';
import { start } from '../../support/program.ts';
import { ALLOWED } from './stage.ts';
import { startReceiver } from './receiver.ts';

interface Tested {
  readonly byService: boolean;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

test.for(DATABASES)(
  'a test event on %s is sent by the background service, by its settings; by the command where none runs',
  async (database, { onTestFinished }) => {
    const { url, session } = await mirrorIn(database);
    const receiver = await startReceiver();
    const here = { DATABASE_URL: url };
    const inside = { ...here, BMS__WEBHOOKS__ALLOW_HOSTS: JSON.stringify(ALLOWED) };
    await run(['webhooks', 'add', receiver.url, '--name', 'erp'], inside);
    const tested = async (): Promise<Tested> =>
      document(await run(['webhooks', 'test', 'erp', '--json'], here)) as Tested;

    expect(await tested()).toMatchObject({ byService: false, delivered: false, error: 'address_refused' });
    expect((await run(['webhooks', 'test', 'erp'], here)).stdout).toContain('this command has sent it');

    await session.atomically((tx) => tx.query(sql`update webhook_endpoints set state = 'disabled'`)); // It can be tested all the same.
    const source = { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: 'token-of-no-service' };
    const serving = start(['serve', '--only', 'webhooks'], { env: { ...inside, ...source } });
    onTestFinished(() => void serving.child.kill('SIGKILL'));
    const workers = () => session.query(sql`select owner from workers`);
    await expect.poll(workers, { timeout: 20_000 }).toHaveLength(1);

    expect(await tested()).toMatchObject({ byService: true, delivered: true, status: 204, error: null });
    expect(receiver.taken).toHaveLength(1);
    const log = await session.query(sql`select state, attempts from webhook_deliveries order by id`);
    const failed = { state: 'failed', attempts: 1 };
    expect(log).toEqual([failed, failed, { state: 'delivered', attempts: 1 }]);

    serving.child.kill('SIGSTOP'); // It hangs, and its row is there.
    expect(await tested()).toMatchObject({ byService: false, error: 'address_refused' });
  },
);
