import { expect, test } from 'vitest';
import { ownEventLoopTurn } from '../../../src/lib/time/event-loop-turn.ts';

test('those who wait at once get a turn of the event loop each, and what else is due comes between', async () => {
  const order: string[] = [];
  const waiting = ['a', 'b', 'c'].map(async (name) => {
    await ownEventLoopTurn();
    order.push(name);
    setImmediate(() => order.push(`after ${name}`));
  });
  await Promise.all(waiting);
  expect(order).toEqual(['a', 'after a', 'b', 'after b', 'c']);
});
