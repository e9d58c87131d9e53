import * as z from 'zod';
import type { Kind } from '../catalog/kind.ts';
import type { MessageKey } from '../lib/text/translator.ts';
import type { DocumentOf } from '../lib/json/document.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { UsageError } from '../lib/sync-error.ts';
import { withFullStop } from '../lib/text/text.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Session } from '../db/session/session.ts';
import { withDecision, type Decider } from '../store/users/decision-store.ts';
import type { UserRole } from '../store/users/user-store.ts';
import type { SendingRules } from '../events/webhooks/sender.ts';
import type { CounterReader } from '../outbound/freeze.ts';

/** The parts that operations work with. */
export interface OperationContext {
  readonly session: Session;
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  /** `resume` raises the database's own count to this counter. */
  readonly sendCounter: CounterReader;
  readonly webhooks: SendingRules;
  /** The setting `plans`. */
  readonly plans: { readonly approvals: number };
  /** Ends what takes long. */
  readonly signal: AbortSignal;
  /** The person, whose decision is noted with the first thing that the operation writes. */
  readonly by: Decider;
}

interface Described {
  /** The word of the command; the last part of the address, unless declared. */
  readonly name: string;
  /** The address of the API below `/v1`, and of the dashboard's form: `:id` is the member `id` of the input. */
  readonly path: string;
  /** Who may: an operator decides, an admin sets up. */
  readonly role: UserRole;
  /** The effect as a clause: `keep the records live`. */
  readonly summary: MessageKey;
  /** The effect as a sentence in the past; the dashboard has a form for the operations that have one. */
  readonly notice?: MessageKey;
  /** The same on a page, with the number `events` of the result as `{n}`. */
  readonly counted?: MessageKey;
  /** The page of the result, if it is not the form's page. */
  readonly resultPage?: (document: JsonObject) => string;
  /** The command takes the ids of several entries: all are decided, or none. */
  readonly takesSeveral?: true;
  /** The document of the result. */
  readonly answer: z.ZodObject;
  /** The status of the API's answer, where it is not 200. */
  readonly status?: 201 | 202;
}

type Members = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

interface Declared<Input extends Members, Answer extends z.ZodObject> extends Omit<Described, 'name'> {
  readonly name?: string;
  readonly input: Input;
  readonly answer: Answer;
  readonly run: (context: OperationContext, input: z.output<Input>) => Promise<DocumentOf<Answer>>;
}

/** Something that a person may do: the command, the route of the API, the form and its notice derive from it. */
export interface AnyOperation extends Described {
  readonly input: Members;
  /** @throws {UsageError} `usage.input` for invalid values; the errors of the stage that does the work. */
  readonly run: (context: OperationContext, values: Readonly<Record<string, unknown>>) => Promise<JsonObject>;
}

export const operation = <Input extends Members, Answer extends z.ZodObject>(
  declared: Declared<Input, Answer>,
): AnyOperation => {
  const described = { name: declared.path.slice(declared.path.lastIndexOf('/') + 1), ...declared };
  return {
    ...described,
    run: async (context, values) => {
      const input = parseInput(declared.input, values);
      const decision = { ...context.by, ...toDecision(described, input) };
      await context.session.makeDurable(); // A power cut must not undo a decision that was answered.
      const session = withDecision(context.session, decision, context.clock.now());
      return (await declared.run({ ...context, session }, input)) as JsonObject;
    },
  };
};

function parseInput<Input extends Members>(input: Input, values: unknown): z.output<Input> {
  const { data, error } = input.safeParse(values);
  if (error === undefined) return data;
  const faults = error.issues.map(({ path: [name, ...place], message }) => {
    const which = place.map((at) => (typeof at === 'number' ? `, value ${at + 1}` : `.${String(at)}`));
    return `${String(name)}${which.join('')}: ${message}`;
  });
  throw new UsageError(withFullStop(faults.join('; ')), { code: 'usage.input' });
}

/** Input fields that the decision log records. Others may contain secrets or record content. */
const TRAIL_MEMBERS = [
  'id',
  'kind',
  'name',
  'kinds',
  'recordId',
  'ids',
  'pages',
  'all',
  'role',
  'after',
  'changes',
  'format',
  'overwrite',
  'now',
];

/** The unique name of an operation in the decision log: `outbox retry`, `pull`. */
export function trailName({ name, path }: Described): string {
  const [, subject = ''] = path.split('/');
  return subject === `${name}s` ? name : `${subject} ${name}`;
}

function toDecision(operation: Described, input: object) {
  const [target, ...details] = Object.entries(input)
    .map(([member, value]) => ({ member, text: String(value ?? '') }))
    .filter((entry) => TRAIL_MEMBERS.includes(entry.member) && entry.text !== '');
  return {
    what: trailName(operation),
    target: target?.text ?? null,
    detail: details.map((entry) => `${entry.member} ${entry.text}`).join('; ') || null,
  };
}

/** The schemas of the path and of the body; `more` are further members of the body. */
export function inputOf(operation: AnyOperation, more: z.ZodRawShape = {}) {
  const pathParams = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const members = Object.entries(operation.input.shape);
  const params = z.strictObject(Object.fromEntries(members.filter(([name]) => pathParams.includes(name))));
  const rest = members.filter(([name]) => !pathParams.includes(name));
  const body = z.strictObject({ ...Object.fromEntries(rest), ...more });
  const canBeEmpty = body.safeParse({}).success;
  return { ...(pathParams.length > 0 && { params }), body: canBeEmpty ? body.nullable() : body };
}

/** Runs an operation with the values that it knows, and wakes the engine: rows may have become due. */
export async function runOperation(
  operation: AnyOperation,
  context: OperationContext & { readonly wakeEngine: () => void },
  values: object,
): Promise<JsonObject> {
  const inputs = Object.entries(values).filter(([name]) => name in operation.input.shape);
  const document = await operation.run(context, Object.fromEntries(inputs));
  context.wakeEngine();
  return document;
}
