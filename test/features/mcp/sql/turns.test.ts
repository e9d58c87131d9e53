import { expect, test } from 'vitest';
import { createTurns } from '../../../../src/features/mcp/sql/turns.ts';

const waitsForever = new AbortController().signal;

/** Works that end when they are told to. */
function stage() {
  const late: AbortController[] = [];
  const turns = createTurns(() => {
    const timeout = new AbortController();
    late.push(timeout);
    return timeout.signal;
  });
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (user: string, name: string, gone = waitsForever): Promise<unknown> => {
    const work = (): Promise<string> => {
      order.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    };
    const answer = turns(user, { gone, timeoutMs: 10_000 }, work);
    answer.catch(() => undefined);
    return answer;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { order, ask, end, late };
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

test('a caller whose work does not end has an error in time, and no other question begins until it has ended', async () => {
  const { order, ask, end, late } = stage();
  const [stuck, waiting, ben] = [ask('anna', 'a1'), ask('anna', 'a2'), ask('ben', 'b1')];
  late[0]?.abort();
  await expect(stuck).rejects.toMatchObject({ code: 'mcp.too_long' });
  late[1]?.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'mcp.busy' });
  expect(order).toEqual(['a1']);
  await end('a1');
  await end('b1');
  expect(order).toEqual(['a1', 'b1']);
  expect(await ben).toBe('b1');
});
