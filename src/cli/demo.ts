import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import type { RecordedChange } from '../app/commands/changes.ts';
import { createCommand, loggerOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { eventLine, eventsAfter } from './demo/events.ts';
import { firstPull, QUESTION } from './demo/first-pull.ts';
import type { FirstPull } from './demo/first-pull.ts';
import { goOn } from './demo/go-on.ts';
import { demoConfig, DEMO_DATABASE } from './demo/stage.ts';
import type { DemoStage } from './demo/stage.ts';
import { tellEvents, tellLostAnswer, tellRefusal } from './demo/story.ts';
import type { LostAnswer, Refusal } from './demo/story.ts';
import { EXIT, exitCodeOfPull } from './exit-codes.ts';
import { printJson, printLine } from './print/io.ts';
import { openSandbox } from './sandbox.ts';

interface DemoOptions extends CommonOptions {
  readonly once?: true;
}

export function demoCommand(context: CommandContext): Command {
  return createCommand(
    'demo',
    'a simulated service, its mirror in ./data/demo.db, and a short story of both; needs no settings',
  )
    .option('--once', 'exit after the story')
    .action((options: DemoOptions) => runDemo(context, options));
}

async function runDemo(context: CommandContext, options: DemoOptions): Promise<void> {
  const { io } = context;
  for (const suffix of ['', '-wal', '-shm', '.sends']) rmSync(DEMO_DATABASE + suffix, { force: true }); // Every demo starts with an empty mirror.
  await using sandbox = await openSandbox();
  const config = demoConfig(sandbox);
  const say = (text: string | readonly string[]): void => {
    if (!options.json) printLine(io.stdout, text);
  };
  const stage = { sandbox, config, logger: loggerOf(context, config), io, say };
  const first = await firstPull(stage);
  context.exit(exitCodeOfPull(first.report));
  if (io.signal.aborted) return;
  const found = await tellEvents(stage);
  await whileServing(stage, async () => {
    const writes = { lostAnswer: await tellLostAnswer(stage), refusal: await tellRefusal(stage) };
    const events = [...found, ...(await eventsAfter(stage, found.at(-1)?.seq ?? 0))];
    if (options.json) printJson(io.stdout, documentOf(first, { events, ...writes }));
    if (!isAsTold(first, writes)) context.exit(EXIT.incomplete);
    if (!options.once) await goOn(stage, events.at(-1)?.seq ?? 0);
  });
}

interface Writes {
  readonly lostAnswer: LostAnswer;
  readonly refusal: Refusal;
}

function documentOf(
  { kinds, answer }: FirstPull,
  { events, ...writes }: Writes & { readonly events: readonly RecordedChange[] },
): object {
  const told = events.map((event) => ({
    ...{ seq: event.seq, kind: event.kind, recordId: event.recordId, change: event.change },
    text: eventLine(event).trim(),
  }));
  return { database: DEMO_DATABASE, kinds, question: QUESTION, answer, events: told, ...writes };
}

/** Whether the mirror equals the service, and both writes ended as they must. */
function isAsTold({ kinds }: FirstPull, { lostAnswer, refusal }: Writes): boolean {
  const isEqual = kinds.every(({ inService, inMirror }) => inService === inMirror);
  const isOnce = lostAnswer.state === 'done' && lostAnswer.inService === 1;
  return isEqual && isOnce && refusal.state === 'rejected';
}

/** Works the outbox and the requested pulls in this process while the rest goes on. */
async function whileServing({ config, logger, io }: DemoStage, work: () => Promise<void>): Promise<void> {
  const { serve } = await import('../app/serve/serve.ts'); // Its queues take a moment to load, and the first pull needs none.
  const ended = new AbortController();
  const signal = AbortSignal.any([io.signal, ended.signal]);
  const serving = serve(config, { roles: ['pulls', 'outbound'], program: null, logger, signal });
  try {
    await Promise.race([work(), serving]);
  } finally {
    ended.abort();
    await serving;
  }
}
