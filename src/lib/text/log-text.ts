import { plainLine } from './plain-text.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** Members of a line that its text has already. */
const TOLD = new Set(['time', 'level', 'msg', 'event', 'hint', 'err']);

/** Turns a line of the JSON log into text for a terminal: time (UTC), level unless it is info, message, and what it lacks. */
export function logText(line: string): string {
  const facts = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { time, level, msg, event, hint, err } = facts;
  // The message of an outcome says all that a person wants to know.
  const others = typeof event === 'string' ? [] : Object.entries(facts).filter(([key]) => !TOLD.has(key));
  const name = LEVELS[Number(level)];
  const text = [
    String(time).slice(11, 19),
    ...(name === undefined ? [] : [name]),
    textOf(msg),
    ...others.map(([key, value]) => `${key}=${textOf(value)}`),
    ...(hint === undefined ? [] : [`(${textOf(hint)})`]),
  ];
  return [text.join(' '), ...errorLines(err)].map((each) => `${plainLine(each)}\n`).join('');
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The stack of a bug, or the message of a fault. */
function errorLines(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { stack, message } = error as { readonly stack?: unknown; readonly message?: unknown };
  return textOf(stack ?? message)
    .split('\n')
    .map((line) => `  ${line}`);
}
