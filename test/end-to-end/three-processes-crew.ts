import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import { formatInstant } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Env } from '../support/command-line.ts';
import { start, type Program } from '../support/program.ts';
import { serving, type AtEnd } from './outbound-scene.ts';

const ADMIN_TOKEN = 'an-admin-token-of-more-than-32-characters';
const SIZE = 3;
const ANSWER_WITHIN_MS = 30_000;
const WORK_WITHIN_MS = 30_000;

interface Question {
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly key?: string;
}

/** Several `serve` processes on one mirror and one queue. */
export interface Crew {
  /** The answer of whichever process is there to give it: a caller whose process dies asks another one, by the same key. */
  readonly ask: (question: Question) => Promise<Record<string, unknown>>;
  /** Kills the one at a place with -9 in the middle of a create, or whichever reads a list; returns what replaces it. */
  readonly killOver: (work: 'send' | 'pull', place: number) => Promise<() => Promise<void>>;
  /** Stops all in order. */
  readonly stop: () => Promise<void>;
}

interface Member {
  readonly program: Program;
  readonly url: string;
}

export async function startCrew(atEnd: AtEnd, session: Session, settings: Env): Promise<Crew> {
  const env = { ...settings, PORT: '0', ADMIN_TOKEN };
  const enlist = async (): Promise<Member> => {
    const program = start(['serve'], { env });
    atEnd(() => {
      program.child.kill('SIGKILL');
    });
    const [url] = await Promise.all([addressOf(program), serving(program)]);
    return { program, url };
  };
  const members = await Promise.all(Array.from({ length: SIZE }, enlist));
  return {
    ask: (question) => askAny(members, question),
    killOver: async (work, place) => {
      const victim = await atWork(session, work, work === 'send' ? members.slice(place, place + 1) : members);
      victim.program.child.kill('SIGKILL');
      expect(await victim.program.ended).toMatchObject({ signal: 'SIGKILL' });
      return async () => {
        members[members.indexOf(victim)] = await enlist();
      };
    },
    stop: async () => {
      for (const { program } of members) program.child.kill('SIGTERM');
      for (const { program } of members) expect(await program.ended).toMatchObject({ code: 0, signal: null });
    },
  };
}

/** Where a `serve` listens, as its log says. */
export async function addressOf({ child, ended }: Program): Promise<string> {
  let output = '';
  const address = new Promise<string>((resolve) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /"address":"([^"]+)"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const failed = ended.then(({ code, stderr }): never => {
    throw new Error(`serve ended with ${code} before it served: ${stderr}`);
  });
  return Promise.race([address, failed]);
}

/** So long after it was journalled a send is likely to have reached the service, which takes longer than that to answer. */
const UNDER_WAY_MS = 25;

const OWNERS = {
  /** Who has sent a create and not yet noted how that ended. */
  send: (now: number) => sql`
    select owner from outbox_attempts join outbox on outbox.id = outbox_attempts.outbox_id
    where operation = 'create' and closed_at is null and opened_at < ${formatInstant(new Date(now - UNDER_WAY_MS))}`,
  pull: () => sql`select owner from runs where state = 'running'`,
};

/** Waits until one of these processes is in the middle of such work. */
async function atWork(session: Session, work: 'send' | 'pull', members: readonly Member[]): Promise<Member> {
  const deadline = performance.now() + WORK_WITHIN_MS;
  while (performance.now() < deadline) {
    const rows = await session.query(OWNERS[work](Date.now()));
    const pids = rows.map(({ owner }) => String(owner).split(':')[1]);
    const busy = members.find(({ program }) => pids.includes(String(program.child.pid)));
    if (busy !== undefined) return busy;
    await pause(2);
  }
  throw new Error(`Nobody was in the middle of a ${work}.`);
}

let turn = 0;

async function askAny(members: readonly Member[], question: Question): Promise<Record<string, unknown>> {
  const deadline = performance.now() + ANSWER_WITHIN_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    const member = members[turn++ % members.length];
    try {
      if (member !== undefined) return await askOne(member, question);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // What fetch throws where nobody answers.
      last = error;
      await pause(20);
    }
  }
  throw new Error(`Nobody answers ${question.path}.`, { cause: last });
}

async function askOne({ url }: Member, { path, body, key }: Question): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const output = (await answer.json()) as Record<string, unknown>;
  expect(answer.ok, JSON.stringify(output)).toBe(true);
  return output;
}
