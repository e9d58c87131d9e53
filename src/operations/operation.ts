import * as z from 'zod';
import type { Kind } from '../catalog/kind.ts';
import type { Text } from '../lib/text/speech.ts';
import type { DocumentOf } from '../lib/json/document.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { Owner } from '../lib/owner.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Session } from '../db/session/session.ts';
import { noting, type Decider } from '../store/people/decision-store.ts';
import type { UserRole } from '../store/people/user-store.ts';
import type { SendingRules } from '../feed/webhooks/sender.ts';
import type { SendMark } from '../outbound/freeze.ts';

/** What operations work with. */
export interface OperationContext {
  readonly session: Session;
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  /** The mark that counts the sends; `resume` raises the database's own count to it. */
  readonly sendMark: { readonly read: SendMark['read'] };
  readonly webhooks: SendingRules;
  /** The setting `plans`. */
  readonly plans: { readonly approvals: number };
  readonly isDead: Owner['isDead'];
  /** Ends what takes long. */
  readonly signal: AbortSignal;
  /** The person, whose decision is noted with the first thing that the operation writes. */
  readonly by: Decider;
}

interface Described {
  /** The word of the command, and the last part of the address. */
  readonly name: string;
  /** The address of the API below `/v1`, and of the dashboard's form: `:id` is the member `id` of the input. */
  readonly path: string;
  /** Who may: an operator decides, an admin sets up. */
  readonly role: UserRole;
  readonly words: {
    /** What it does, as a clause: `keep the records live`. */
    readonly summary: Text;
    /** What has been done, as a sentence; the dashboard has a form for the operations that have one. */
    readonly notice?: Text;
  };
  /** The page of what it has made, where that is another one than the form's. */
  readonly leadsTo?: (document: JsonObject) => string;
  /** The document of the result. */
  readonly answer: z.ZodObject;
  /** The status of the API's answer, where it is not 200. */
  readonly status?: 201 | 202;
}

type Members = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

interface Declared<Input extends Members, Answer extends z.ZodObject> extends Described {
  readonly input: Input;
  readonly answer: Answer;
  readonly run: (context: OperationContext, input: z.output<Input>) => Promise<DocumentOf<Answer>>;
}

/** Something that a person may do: the command, the route of the API, the form and its notice derive from it. */
export interface AnyOperation extends Described {
  readonly input: Members;
  /** @throws {UsageError} `usage.input` where what is given does not fit; the errors of the stage that does the work. */
  readonly run: (context: OperationContext, given: Readonly<Record<string, unknown>>) => Promise<JsonObject>;
}

/** Declares an operation. */
export const operation = <Input extends Members, Answer extends z.ZodObject>(
  declared: Declared<Input, Answer>,
): AnyOperation => ({
  ...declared,
  run: async (context, given) => {
    const input = checked(declared.input, given);
    const decision = { ...context.by, ...decisionOf(declared, input) };
    const session = noting(context.session, decision, context.clock.now());
    return (await declared.run({ ...context, session }, input)) as JsonObject;
  },
});

function checked<Input extends Members>(input: Input, given: unknown): z.output<Input> {
  const { data, error } = input.safeParse(given);
  if (error === undefined) return data;
  const faults = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new UsageError(`${faults.join('; ')}.`, { code: 'usage.input' });
}

/** The members of inputs that the trail of decisions quotes: any other one may hold content of a record, or a secret. */
const QUOTED = ['id', 'kind', 'name', 'kinds', 'recordId', 'role', 'after', 'changes', 'format'];

/** What the trail calls an operation, as no other one is called: `outbox retry`, `pull`. */
export function whatOf({ name, path }: Described): string {
  const [, subject = ''] = path.split('/');
  return subject === `${name}s` ? name : `${subject} ${name}`;
}

function decisionOf(operation: Described, input: object) {
  const [target, ...details] = Object.entries(input)
    .map(([member, value]) => ({ member, text: String(value ?? '') }))
    .filter(({ member, text }) => QUOTED.includes(member) && text !== '');
  return {
    what: whatOf(operation),
    target: target?.text ?? null,
    detail: details.map((detail) => `${detail.member} ${detail.text}`).join('; ') || null,
  };
}

/** The schemas of the path and of the body; `more` are further members of the body. */
export function inputOf(operation: AnyOperation, more: z.ZodRawShape = {}) {
  const places = [...operation.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const members = Object.entries(operation.input.shape);
  const params = z.strictObject(Object.fromEntries(members.filter(([name]) => places.includes(name))));
  const rest = members.filter(([name]) => !places.includes(name));
  const body = z.strictObject({ ...Object.fromEntries(rest), ...more });
  const mayLack = body.safeParse({}).success;
  return { ...(places.length > 0 && { params }), body: mayLack ? body.nullable() : body };
}

/** Carries an operation out with those of its members that are given, and wakes the engine: rows may have become due. */
export async function carryOut(
  operation: AnyOperation,
  context: OperationContext & { readonly wakeEngine: () => void },
  given: object,
): Promise<JsonObject> {
  const known = Object.entries(given).filter(([name]) => name in operation.input.shape);
  const document = await operation.run(context, Object.fromEntries(known));
  context.wakeEngine();
  return document;
}
