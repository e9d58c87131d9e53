import type { Field } from '../catalog/kind.ts';
import { canonicalJson, isArray, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { ownValue } from './decode-record.ts';
import { isLooseNumber, isLooseText } from './loosened.ts';
import { numberText, holds } from './written.ts';
import type { SentAndShown } from './written.ts';

/** Whether a shown value could be the service's version of a sent one. */
export function couldHold(field: Field | undefined, { sent, remote }: SentAndShown): boolean {
  if (holds(field, { sent, remote })) return true;
  if (remote === undefined) return false;
  if (isArray(sent) && isArray(remote))
    return (
      sent.length === remote.length &&
      sent.every((element, at) => couldHoldElement(field, [element, remote[at]]))
    );
  if (isObject(sent) && isObject(remote)) return couldHoldMembers([], [sent, remote]);
  return isLooseScalar(field, [sent, remote]);
}

function couldHoldElement(
  field: Field | undefined,
  [sent, remote]: readonly [Json, Json | undefined],
): boolean {
  if (isObject(sent) && isObject(remote)) return couldHoldMembers(field?.items ?? [], [sent, remote]);
  return couldHold(undefined, { sent, remote });
}

function couldHoldMembers(
  items: readonly Field[],
  [sent, remote]: readonly [JsonObject, JsonObject],
): boolean {
  return Object.entries(sent).every(([name, value]) => {
    const field = items.find((candidate) => candidate.name === name);
    return couldHold(field, { sent: value, remote: ownValue(remote, name) });
  });
}

function isLooseScalar(field: Field | undefined, [sent, remote]: readonly [Json, Json]): boolean {
  const [ours, theirs] = [trimmedNumber(sent), trimmedNumber(remote)];
  if (ours !== null && theirs !== null)
    return field?.type === 'text' ? isLooseCode([sent, remote]) : isLooseNumber(ours, theirs);
  return isSameMoment(field, [sent, remote]) || isLooseText(textOf(sent), textOf(remote));
}

/** Digits in a text field are mostly a code: it may lose its leading zeros, but is never rounded. */
function isLooseCode([sent, remote]: readonly [Json, Json]): boolean {
  return trimmedNumber(sent) === trimmedNumber(remote) || isLooseText(textOf(sent), textOf(remote));
}

/**
 * The part of a date or time that the service keeps for certain: seconds, and the time after a date, may be added or
 * dropped.
 */
const CALENDAR_LENGTHS: Partial<Record<Field['type'], number>> = {
  date: '2026-01-05'.length,
  time: '08:00'.length,
  timestamp: '2026-01-05 08:00'.length,
};

function isSameMoment(field: Field | undefined, [sent, remote]: readonly [Json, Json]): boolean {
  const length = field && CALENDAR_LENGTHS[field.type];
  return length !== undefined && calendarText(textOf(sent), length) === calendarText(textOf(remote), length);
}

function calendarText(text: string, length: number): string {
  return text
    .trim()
    .replace('T', ' ')
    .replace(/\b\d\b/g, '0$&')
    .slice(0, length);
}

function trimmedNumber(value: Json): string | null {
  return numberText(typeof value === 'string' ? value.trim() : value);
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
