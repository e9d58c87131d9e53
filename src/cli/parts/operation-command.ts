import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { sendingRules } from '../../app/sending-rules.ts';
import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { documentOf } from '../../lib/json/document.ts';
import { compactJson, type JsonObject } from '../../lib/json/json.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Session } from '../../db/session/session.ts';
import type { Decider } from '../../store/users/decision-store.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { findEntryId } from '../../outbound/decisions/entry-list.ts';
import { createCounterReader } from '../../outbound/send-counter.ts';
import { EXIT, createCommand, type CommandContext, type CommonOptions } from './command.ts';
import type { Printed } from './io.ts';

/** What a command that works on the mirror has at hand. */
export interface OpenMirror<Options extends CommonOptions = CommonOptions> {
  readonly session: Session;
  readonly config: Config;
  readonly options: Options;
  readonly parts: ReturnType<typeof operationParts>;
}

/** A document, and its texts for a person. */
export type Printout = readonly [unknown, Iterable<Printed>];

/**
 * Lets a command open the mirror; it prints the document that `read` returns, or for a person the texts.
 * @param check Refuses what no mirror could make right, before there is one.
 */
export const readingCommand = <Options extends CommonOptions>(
  context: CommandContext,
  command: Command,
  read: (mirror: OpenMirror<Options>, ...args: never[]) => Promise<Printout>,
  check?: (known: Pick<OpenMirror<Options>, 'config' | 'options'>, ...args: never[]) => void,
): Command =>
  command.action(async () => {
    const options = command.optsWithGlobals<Options>();
    const config = await context.keptSettings(options);
    const args = command.processedArgs as never[];
    check?.({ config, options }, ...args);
    await using session = await openExistingMirror(config);
    const parts = operationParts(context, config, session);
    const answer = await read({ session, config, options, parts }, ...args);
    context.printResult(options, ...answer);
  });

/** The presentation of a result, beyond the operation's own words. */
interface Result {
  readonly lines?: (document: JsonObject, config: Config) => readonly string[];
  readonly hasFailed?: (document: JsonObject) => boolean;
  /** False if the operation found nothing to do, so that its notice would be wrong. */
  readonly hasWorked?: (document: JsonObject) => boolean;
}

/** Adds a command for each operation. @param results Their presentations, by the names of operations. */
export function withOperations(
  context: CommandContext,
  command: Command,
  operations: readonly AnyOperation[],
  results: Readonly<Record<string, Result>> = {},
): Command {
  for (const operation of operations)
    command.addCommand(operationCommand(context, operation, results[operation.name]));
  return command;
}

/** The command of an operation: required members of its input are arguments, optional ones options; what can be true is a flag. */
function operationCommand(
  context: CommandContext,
  operation: AnyOperation,
  { lines, hasFailed, hasWorked }: Result = {},
): Command {
  const members = Object.entries(operation.input.shape);
  const isOptional = ([, schema]: (typeof members)[number]): boolean => schema.safeParse(undefined).success;
  const needed = members.filter((member) => !isOptional(member));
  const command = createCommand(operation.name, operation.summary);
  const isOfEntry = operation.path.startsWith('/outbox/:id/'); // Named by its key, too.
  const several = operation.takesSeveral ? '...' : '';
  for (const [name, schema] of needed) command.argument(`<${name}${several}>`, schema.description ?? '');
  for (const [name, schema] of members.filter(isOptional)) {
    const isFlag = schema.safeParse(true).success;
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    command.option(isFlag ? option : `${option} <${name}>`, schema.description ?? '');
  }
  type Options = CommonOptions & Readonly<Record<string, unknown>>;
  return readingCommand<Options>(context, command, async (mirror, ...args: readonly unknown[]) => {
    const { session, config, options, parts } = mirror;
    const input = Object.fromEntries(members.map(([name]) => [name, options[name]]));
    for (const [index, [name]] of needed.entries()) input[name] = args[index];
    const inputs = operation.takesSeveral
      ? [...new Set(args[0] as readonly string[])].map((id) => ({ ...input, id }))
      : [input];
    const documents: JsonObject[] = [];
    const run = async (joined: Session, input: (typeof inputs)[number]): Promise<void> => {
      const id = isOfEntry && { id: await findEntryId(joined, String(input['id'])) };
      documents.push(await operation.run({ ...parts, session: joined }, { ...input, ...id }));
    };
    const runAll = async (joined: Session): Promise<void> => {
      documents.length = 0; // A transaction may run again.
      const faults = new Map<unknown, SyncError>();
      for (const each of inputs)
        await run(joined, each).catch((error: unknown) => {
          if (!(error instanceof SyncError) || error instanceof MirrorError) throw error;
          faults.set(each['id'], error);
        });
      refuseAll(faults, inputs.length);
    };
    const [only = {}] = inputs;
    await (inputs.length === 1 ? run(session, only) : runTogether(session, runAll));
    const printed = documents.flatMap((document) => {
      if (hasFailed?.(document) === true) context.exit(EXIT.failed);
      const notice = hasWorked?.(document) === false ? null : operation.notice;
      const texts = [notice, document['warning'], ...(lines?.(document, config) ?? [])];
      const entry = documents.length === 1 ? '' : `Entry ${compactJson(document['id'] ?? '')}: `;
      return texts.filter((text) => typeof text === 'string').map((text) => `${entry}${text}`);
    });
    const shown = documents.map((document) => documentOf(operation.answer, document));
    return [shown.length === 1 ? shown[0] : { entries: shown }, printed];
  });
}

/** @throws {SyncError} If there are faults: it names each, by the id of its entry. */
function refuseAll(faults: ReadonlyMap<unknown, SyncError>, entries: number): void {
  const [first] = faults.values();
  if (first === undefined) return;
  const reasons = [...faults].map(([id, { message }]) => `${String(id)}: ${message}`).join(' ');
  const Refusal = first instanceof UsageError ? UsageError : SyncError;
  const hint = 'Leave these out, and run the command again.';
  throw new Refusal(`None of the ${entries} entries was decided. ${reasons}`, { code: first.code, hint });
}

/** Runs work that makes transactions of its own as one: all of it lands, or nothing. */
async function runTogether<T>(session: Session, work: (joined: Session) => Promise<T>): Promise<T> {
  await session.makeDurable();
  const makeDurable = (): Promise<void> => Promise.resolve();
  return session.atomically((tx) => work({ ...session, makeDurable, atomically: (inner) => inner(tx) }));
}

/** The parts that operations work with, on the command line. */
export const operationParts = (context: CommandContext, config: Config, session: Session) => ({
  session,
  kinds: allKinds(config),
  clock: systemClock,
  sendCounter: createCounterReader(session, config.queue.url),
  webhooks: sendingRules(config),
  plans: config.plans,
  signal: context.io.signal,
  by: commandLineDecider(),
});

/** Who decides by a command: anyone who can open the mirror can do everything. */
export const commandLineDecider = (): Decider => ({
  who: `${userName()}@${hostname()}`,
  role: 'admin',
  via: 'command',
});

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'nameless'; // Containers run programs under numbers that have no name.
  }
}
