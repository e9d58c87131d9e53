import { expect, test } from 'vitest';
import { UsageError } from '../../src/lib/sync-error.ts';
import { parseFaults } from '../../sandbox/faults.ts';

function complaint(text: string): string {
  try {
    parseFaults(text);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return '';
}

test('reads faults from YAML', () => {
  const text = `
- on: {kind: clients, method: GET, page: 2}
  skip: 1
  times: 3
  do: {status: 503, retryAfter: '2'}
- do: {latencyMs: 5}
`;
  expect(parseFaults(text)).toEqual([
    {
      on: { kind: 'clients', method: 'GET', page: 2 },
      skip: 1,
      times: 3,
      do: { status: 503, retryAfter: '2' },
    },
    { do: { latencyMs: 5 } },
  ]);
});

test('reads faults from JSON', () => {
  expect(parseFaults('[{"do":{"drop":"after"}}]')).toEqual([{ do: { drop: 'after' } }]);
});

test('names every fault that is not one, counted from one', () => {
  const message = complaint(
    '[{"do":{"cut":1}}, {"do":{"explode":true}}, {"on":{"kind":"cats"},"do":{"html":true}}]',
  );
  expect(message).toContain('fault 2, do: must be exactly one of');
  expect(message).toContain('fault 3, on.kind: ');
  expect(message).not.toContain('fault 1');
});

test.each([
  ['an unknown key', '[{"do":{"cut":1},"when":"now"}]', /fault 1: .*when/],
  ['two deeds at once', '[{"do":{"cut":1,"html":true}}]', /fault 1, do: must be exactly one/],
  ['no deed', '[{"on":{}}]', /fault 1, do: /],
  ['a negative count', '[{"skip":-1,"do":{"cut":1}}]', /fault 1, skip: /],
  ['no list', 'do: {cut: 1}', /the list: /],
  ['broken text', '[{', /neither YAML nor JSON/],
])('refuses %s', (_, text, expected) => {
  expect(complaint(text)).toMatch(expected);
});
