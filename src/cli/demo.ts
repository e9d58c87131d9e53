import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { pull } from '../app/pull.ts';
import type { PullReport } from '../app/pull.ts';
import { queryMirror } from '../app/report.ts';
import type { Row } from '../app/report.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createCommand, loggerOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { EXIT, exitCodeOfPull } from './exit-codes.ts';
import { printJson, printLine, textTable } from './print/io.ts';
import type { Output } from './print/io.ts';
import { openSandbox } from './sandbox.ts';
import { createProgress } from './print/progress.ts';

const DEMO_DATABASE = './data/demo.db';

/** The most-bought products; the sums are exact, because they count whole units of 0.0001. */
const QUESTION = `select product_name, count(*) as lines, printf('%.2f', sum(produit_total_e4) / 10000.0) as total
from bi_purchase_products group by product_name order by sum(produit_total_e4) desc limit 5`;

interface DemoOptions extends CommonOptions {
  readonly once?: true;
}

interface DemoKind {
  readonly kind: string;
  readonly inService: number;
  readonly inMirror: number;
}

export function demoCommand(context: CommandContext): Command {
  return createCommand(
    'demo',
    'a sandbox service, a pull into ./data/demo.db, a first query; needs no settings',
  )
    .option('--once', 'exit after the report')
    .action((options: DemoOptions) => runDemo(context, options));
}

async function runDemo(context: CommandContext, options: DemoOptions): Promise<void> {
  const { io } = context;
  for (const suffix of ['', '-wal', '-shm']) rmSync(DEMO_DATABASE + suffix, { force: true }); // Every demo starts with an empty mirror.
  await using sandbox = await openSandbox();
  const { report, answer } = await pullDemo(context, sandbox);
  const kinds = report.kinds.map(({ kind, rows }) => ({
    kind,
    inService: sandbox.world.count(kind),
    inMirror: rows,
  }));
  const isEqual = kinds.every(({ inService, inMirror }) => inService === inMirror);

  if (options.json) printJson(io.stdout, { database: DEMO_DATABASE, kinds, question: QUESTION, answer });
  else printDemo(io.stdout, { kinds, answer, durationMs: report.durationMs });
  context.exit(isEqual ? exitCodeOfPull(report) : EXIT.incomplete);
  if (options.once || io.signal.aborted) return;

  printLine(io.stderr, `\nThe sandbox stays up at ${sandbox.url} until Ctrl-C. In another terminal:`);
  printLine(
    io.stderr,
    `BMS_BASE_URL=${sandbox.url} BMS_TOKEN=${sandbox.token} DATABASE_URL=file:${DEMO_DATABASE} npx bms-sync pull`,
  );
  await once(io.signal, 'abort');
}

async function pullDemo(
  context: CommandContext,
  sandbox: Sandbox,
): Promise<{ report: PullReport; answer: readonly Row[] }> {
  const config = loadConfig({
    env: {}, // The demo needs no settings, and must not touch the mirror or service that they name.
    flags: {
      source: { baseUrl: sandbox.url, token: sandbox.token },
      database: { url: `file:${DEMO_DATABASE}` },
    },
  });
  const progress = createProgress(context.io);
  const report = await pull(config, {
    kinds: [],
    acceptNewSource: false,
    logger: loggerOf(context, config),
    onProgress: progress.onProgress,
    signal: context.io.signal,
  });
  progress.stop();
  return { report, answer: await queryMirror(config, QUESTION) };
}

interface DemoReport {
  readonly kinds: readonly DemoKind[];
  readonly answer: readonly Row[];
  readonly durationMs: number;
}

function printDemo(stdout: Output, { kinds, answer, durationMs }: DemoReport): void {
  printLine(
    stdout,
    textTable(
      ['kind', 'in the service', 'in the mirror'],
      kinds.map((row) => [row.kind, row.inService, row.inMirror]),
    ),
  );
  printLine(
    stdout,
    `\nPulled in ${(durationMs / 1000).toFixed(1)} s into ${DEMO_DATABASE}. A first query:\n`,
  );
  printLine(stdout, `${QUESTION};\n`.split('\n'));
  const [first] = answer;
  if (first !== undefined)
    printLine(
      stdout,
      textTable(
        Object.keys(first),
        answer.map((row) => Object.values(row)),
      ),
    );
}
