import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import type { OpenDashboard } from '../../app/serve-http.ts';
import type { Role } from '../../app/serve.ts';
import { requireListedKinds } from '../../config/known-kinds.ts';
import { untilItsTurn } from '../../lib/read-ahead.ts';
import {
  createCommand,
  EXIT,
  exitCodeOfPull,
  type CommonOptions,
  type CommandContext,
} from '../parts/command.ts';
import { printJson, printLine, type Printed } from '../parts/io.ts';
import { openSandbox } from '../parts/open-sandbox.ts';
import { createProgress } from '../parts/progress.ts';
import { keepChanging, showDashboard } from './keep-changing.ts';
import { demoConfig, DEMO_DATABASE, eventLine, eventsAfter, type DemoStage } from './stage.ts';
import { firstPull, QUESTION, showEvents, showLostAnswer } from './story.ts';

interface DemoOptions extends CommonOptions {
  readonly once?: true;
}

export function demoCommand(context: CommandContext): Command {
  return createCommand('demo')
    .option('--once', 'exit after the tour')
    .action(async (options: DemoOptions) => {
      const { io } = context;
      for (const suffix of ['', '-wal', '-shm', '.sends']) rmSync(DEMO_DATABASE + suffix, { force: true }); // Every demo starts with an empty mirror.
      await using sandbox = await openSandbox();
      const config = demoConfig(sandbox, io.env);
      const print = (text: Printed): void => {
        if (!options.json) printLine(io.stdout, text);
      };
      const progress = createProgress(io.stderr, { of: requireListedKinds(config).length });
      const logger = await context.logger(config, progress.stderr);
      const stage = { sandbox, config, logger, io, print };
      const { report, kinds, answer } = await firstPull(stage, progress);
      context.exit(exitCodeOfPull(report));
      if (io.signal.aborted) return;
      const pulledEvents = await showEvents(stage);
      await whileServing(stage, options, async (served, dashboard) => {
        const lostAnswer = await showLostAnswer(served);
        const events = [...pulledEvents, ...(await eventsAfter(stage, pulledEvents.at(-1)?.seq ?? 0))];
        const eventTexts = events.map((event) => {
          const { seq, kind, recordId, change } = event;
          return { seq, kind, recordId, change, text: eventLine(event).trim() };
        });
        const tour = { database: DEMO_DATABASE, kinds, question: QUESTION, answer };
        if (options.json) printJson(io.stdout, { ...tour, events: eventTexts, lostAnswer });
        const isEqual = kinds.every((kind) => kind.inService === kind.inMirror);
        const isMadeOnce = lostAnswer?.state === 'done' && lostAnswer.inService === 1;
        if (!isEqual || !isMadeOnce) context.exit(EXIT.incomplete);
        if (dashboard === null || served.io.signal.aborted) return;
        showDashboard(served, dashboard);
        await keepChanging(served, events.at(-1)?.seq ?? 0);
      });
    });
}

/**
 * Runs `work` while a background service in this process works the outbox and the requested pulls; opens a dashboard unless `once`.
 * If the service ends first, the signal of the stage stops `work`, and this function waits for it.
 */
async function whileServing(
  stage: DemoStage,
  options: DemoOptions,
  work: (served: DemoStage, dashboard: OpenDashboard | null) => Promise<void>,
): Promise<void> {
  const { config, logger, io } = stage;
  const { serve } = await import('../../app/serve.ts'); // Its queues take a moment to load, and the first pull needs none.
  const ended = new AbortController();
  const signal = AbortSignal.any([io.signal, ended.signal]);
  const { promise: listening, resolve: onListening } = Promise.withResolvers<OpenDashboard | null>();
  const roles: readonly Role[] = ['pulls', 'outbound', ...(options.once ? [] : (['http'] as const))];
  const service = serve(config, { roles, logger, signal, onListening }).finally(() => {
    ended.abort();
    onListening(null); // A service that ended before it listened has no page.
  });
  const serving = untilItsTurn(service);
  if (options.once) onListening(null);
  try {
    await work({ ...stage, io: { ...io, signal } }, await listening);
  } finally {
    ended.abort();
    await serving;
  }
}
