import { expect, test } from 'vitest';
import { createTurns } from '../../../src/mcp/sql/turns.ts';

const waitsForever = new AbortController().signal;

/** Works that end when they are told to. */
function stage() {
  const turns = createTurns();
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (user: string, name: string, gone = waitsForever): Promise<unknown> => {
    const work = (): Promise<string> => {
      order.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    };
    const answer = turns(user, gone, work);
    answer.catch(() => undefined);
    return answer;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { order, ask, end };
}

test('users take turns, however much one of them asks', async () => {
  const { order, ask, end } = stage();
  const answers = ['a1', 'a2', 'a3'].map((name) => ask('anna', name));
  await expect(ask('anna', 'a4')).rejects.toMatchObject({ code: 'mcp.busy' });
  answers.push(ask('ben', 'b1'));
  for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'b1']);
  const again = ask('anna', 'a5');
  await end('a5');
  expect(await again).toBe('a5');
});

test('a caller who has gone has no question left, and the next one waits until the work has ended', async () => {
  const { order, ask, end } = stage();
  const anna = new AbortController();
  const answers = ['a1', 'a2', 'a3'].map((name) => ask('anna', name, anna.signal));
  const ben = ask('ben', 'b1');
  anna.abort();
  await Promise.all(answers.map((answer) => expect(answer).rejects.toThrow()));
  expect(order).toEqual(['a1']);
  const again = ask('anna', 'a4');
  await end('a1');
  await end('b1');
  await end('a4');
  expect(order).toEqual(['a1', 'b1', 'a4']);
  expect(await Promise.all([ben, again])).toEqual(['b1', 'a4']);
});
