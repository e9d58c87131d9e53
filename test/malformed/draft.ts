import type { HttpAnswer } from '../../src/source/http/http.ts';
import type { Random } from '../../sandbox/generate/draw.ts';

/** A member of the body and its JSON text; null stands where the records go. */
export type Member = readonly [name: string, text: string | null];

/** An answer in the making: whole and true, until a mutation has its way with it. */
export interface Draft {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  readonly members: readonly Member[];
  /** JSON text of each record; a single one where `isList` is false. */
  readonly rows: readonly string[];
  readonly isList: boolean;
  /** The body, where it is made of members no more. */
  readonly bytes: Uint8Array | null;
}

/** Where a mutation takes place. */
export interface Scene {
  readonly random: Random;
  /** Records of the same kind on other pages, and of another kind. */
  readonly elsewhere: readonly string[];
  readonly foreign: readonly string[];
  readonly token: string;
}

export type Mutation = (draft: Draft, scene: Scene) => Draft;

export function dataText({ rows, isList }: Draft): string {
  return isList ? `[${rows.join(',')}]` : (rows[0] ?? 'null');
}

export function bodyText(draft: Draft): string {
  const members = draft.members.map(([name, text]) => `${JSON.stringify(name)}:${text ?? dataText(draft)}`);
  return `{${members.join(',')}}`;
}

export function bodyBytes(draft: Draft): Uint8Array {
  return draft.bytes ?? Buffer.from(bodyText(draft));
}

export function answerOf(draft: Draft): HttpAnswer {
  return { status: draft.status, headers: draft.headers, bytes: bodyBytes(draft) };
}

/** The same draft with another body. */
export const withText = (draft: Draft, text: string): Draft => ({ ...draft, bytes: Buffer.from(text) });

/** The same draft with a member of another value, or one more. */
export function withMember(draft: Draft, name: string, text: string): Draft {
  const isThere = draft.members.some(([other]) => other === name);
  const replaced = draft.members.map((member): Member => (member[0] === name ? [name, text] : member));
  return { ...draft, members: isThere ? replaced : [...draft.members, [name, text]] };
}

/** The same draft with one of its records written otherwise. */
export function withRow(draft: Draft, { random }: Scene, rewrite: (row: string) => string): Draft {
  if (draft.rows.length === 0) return draft;
  const at = random.integer(0, draft.rows.length - 1);
  return { ...draft, rows: draft.rows.map((row, index) => (index === at ? rewrite(row) : row)) };
}
